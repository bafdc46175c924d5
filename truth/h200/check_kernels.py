"""Checks a record of kernel times, and the reducer that makes it, without a GPU and without PyTorch.

usage: check_kernels.py [FOLDER]
FOLDER is what `record_kernels.py --pack` wrote. Without it: the tests of the reducer on a trace made
by hand, and, if a record lies beside this script in kernel_record/, that record."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from kernels import checks, storage  # noqa: E402

SHOWN = 40


def summary(folder):
    """Figures of the record: points, repeated pairs, and the share attributed in each step."""
    operators = storage.read_document(folder / "operators.json.gz")
    times = operators["points"].get("kernel_ns_median", [])
    pairs = list(checks.repeat_pairs(operators))
    yield f"points: {len(times)}, with kernel times: {sum(t is not None for t in times)}"
    if pairs:
        spread = sorted(abs(a - b) / min(a, b) for _, a, b in pairs)
        yield (f"repeated points: {len(pairs)}, median difference {spread[len(spread) // 2]:.2%}, "
               f"largest {spread[-1]:.2%}")
    steps = folder / "steps.json.gz"
    for row in storage.read_document(steps)["models"] if steps.exists() else []:
        for table in row.get("profiled", []):
            sums = table["totals"]
            if sums["busy_ns"]:
                yield (f"{row['model']}: {sums['kernel_count']} kernels, busy {sums['busy_ns']} ns, "
                       f"attributed {sums['attributed_ns'] / sums['busy_ns']:.2%}")


def check(folder):
    complaints = checks.check_folder(folder)
    for line in complaints[:SHOWN]:
        print(line)
    if len(complaints) > SHOWN:
        print(f"and {len(complaints) - SHOWN} more")
    if complaints:
        return 1
    print("\n".join(summary(folder)))
    print(f"{folder}: the record holds")
    return 0


def self_test():
    suite = unittest.defaultTestLoader.discover(str(HERE / "kernels"), "test_*.py", str(HERE))
    return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 2
    if len(sys.argv) == 2:
        return check(pathlib.Path(sys.argv[1]))
    records = [HERE / name for name in ("kernel_record", "kernel_record_2", "kernel_record_3")]
    return self_test() or max((check(record) for record in records if record.exists()), default=0)


if __name__ == "__main__":
    sys.exit(main())
