"""What the package promises to tools: types, and examples that run."""
import contextlib
import doctest
import importlib
import importlib.util
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile
import unittest

import symprof  # Before torch.

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "python/symprof"


def is_there(package):
    return importlib.util.find_spec(package) is not None


class Types(unittest.TestCase):
    @unittest.skipUnless(is_there("mypy"), "mypy is not installed")
    def test_the_package_is_strictly_typed(self):
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / "build/mypy"],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(is_there("nanobind"), "nanobind is not installed")
    def test_the_stub_is_that_of_the_extension(self):
        """python -m nanobind.stubgen -m symprof._native -o python/symprof/_native.pyi"""
        from nanobind.stubgen import StubGen

        generator = StubGen(symprof._native)
        generator.put(symprof._native)
        self.assertEqual(generator.get().strip(), (SOURCE / "_native.pyi").read_text().strip())

    def test_types_come_with_the_package(self):
        for name in ("py.typed", "_native.pyi"):
            self.assertTrue((pathlib.Path(symprof.__file__).parent / name).is_file())


class Version(unittest.TestCase):
    def test_another_torch_is_refused_in_words(self):
        wanted = ".".join(torch.__version__.split(".")[:2])
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "torch")
            other.mkdir()
            (other / "__init__.py").touch()
            (other / "version.py").write_text("__version__ = '2.0.1+cpu'\n")
            path = os.pathsep.join([folder, str(pathlib.Path(symprof.__file__).parent.parent)])
            done = subprocess.run([sys.executable, "-c", "import symprof"], env={**os.environ, "PYTHONPATH": path},
                                  capture_output=True, text=True, check=False)
        self.assertIn(f"torch: found 2.0.1+cpu in {other}, where this symprof was built with LibTorch {wanted}.", done.stderr)
        self.assertIn(f"pip install 'torch=={wanted}.*'", done.stderr)


class Examples(unittest.TestCase):
    def run_examples(self, test):
        said = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        return runner.tries

    def test_those_of_docstrings(self):
        tries = 0
        for module in pkgutil.iter_modules(symprof.__path__):
            needs = {"huggingface": "transformers", "lightning": "lightning", "pytest_plugin": "pytest", "_native": ""}.get(module.name)
            if module.name == "__main__" or needs is not None and not is_there(needs or "symprof"):
                continue
            found = importlib.import_module(f"symprof.{module.name}")
            tries += sum(self.run_examples(test) for test in doctest.DocTestFinder().find(found) if test.examples)
        self.assertGreaterEqual(tries, 5)

    def test_those_of_the_pages(self):
        tries = {}
        for page in sorted((ROOT / "docs").rglob("*.md")):
            test = doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0)
            if test.examples and page.name != "python_api.md":  # Its examples are those of docstrings.
                with self.subTest(page.name), contextlib.chdir(ROOT):
                    tries[page.name] = self.run_examples(test)
        self.assertGreater(tries["python.md"], 10)
        self.assertTrue(tries.keys() >= {"checkpoint_plan.md", "own_operator.md"})


if __name__ == "__main__":
    unittest.main()
