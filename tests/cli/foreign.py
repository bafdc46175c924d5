"""Models that other packages' users export, each the smallest file that reproduces a past error (tests/zoo/foreign).

    foreign.py PROGRAM [unittest arguments, such as -k Casts]

The tests are in foreign/, one file per topic. Standard library only.
"""
import pathlib

import program


def load_tests(loader, _tests, _pattern):
    return loader.discover(str(pathlib.Path(__file__).parent / "foreign"), pattern="*.py")


if __name__ == "__main__":
    program.main()
