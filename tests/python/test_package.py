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
from symprof import _torch_versions

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


    def test_the_wheel_to_take_is_named(self):
        with self.assertRaisesRegex(symprof.Error, r"without its part for torch; found torch 2\.12\.1\+cu130 in /site/torch\.\n  pip install 'symprof==0\.1\.0\+torch2\.12'"):
            _torch_versions.check("2.12.1+cu130", "/site/torch", None, "0.1.0")
        with self.assertRaisesRegex(symprof.Error, f"There are wheels for torch {', '.join(_torch_versions.BUILT)}"):
            _torch_versions.check("2.3.1", "/site/torch", "2.13", "0.1.0")
        _torch_versions.check("2.13.1+cpu", "/site/torch", "2.13", "0.1.0")

    def test_there_is_a_wheel_for_this_torch(self):
        self.assertIn(".".join(torch.__version__.split(".")[:2]), _torch_versions.BUILT)


class Command(unittest.TestCase):
    def test_verbs_of_c_plus_plus_import_no_package(self):
        script = "import sys, symprof_command, os; os.execve = lambda *a: sys.exit('symprof' in sys.modules); symprof_command.main()"
        self.assertEqual(subprocess.run([sys.executable, "-c", script, "devices"], check=False).returncode, 0)


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
