"""Commands that edit models on damaged models: each ends in a clear error or a result, and leaves no half-written file.

    workbench.py PROGRAM [unittest arguments]
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = ""
MODELS = pathlib.Path(__file__).resolve().parents[1] / "workbench" / "golden" / "models"
READERS = [["show"], ["show", "--style", "pretty"], ["stats"], ["dot"], ["dot", "--format", "html"]]
WRITERS = [["inline"], ["partition"], ["strip"], ["fill"], ["optimize", "--fused", "microsoft"],
           ["optimize", "--fused", "standard", "--verify"]]


def damaged(data, chance):
    """`data` cut, or with some bytes changed, or with a piece taken out."""
    kind = chance.randrange(3)
    if kind == 0:
        return data[:chance.randrange(len(data))]
    changed = bytearray(data)
    if kind == 1:
        for _ in range(chance.randrange(1, 6)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    at = chance.randrange(len(changed))
    del changed[at:at + chance.randrange(1, 40)]
    return bytes(changed)


class Workbench(unittest.TestCase):
    def run_on(self, folder, command, data):
        model, out = folder / "model.onnx", folder / "out.onnx"
        model.write_bytes(data)
        writes = command in WRITERS
        arguments = [PROGRAM, command[0], str(model), *command[1:], *(["-o", str(out)] if writes else [])]
        done = subprocess.run(arguments, capture_output=True, timeout=60)
        self.assertIn(done.returncode, (0, 2), (command, done.stderr[-500:]))
        self.assertNotIn(b"mistake in symprof", done.stderr, command)
        left = sorted(path.name for path in folder.iterdir())
        wanted = ["model.onnx", "out.onnx"] if writes and done.returncode == 0 else ["model.onnx"]
        self.assertEqual(left, wanted, command)
        if done.returncode == 2:
            self.assertEqual(done.stdout, b"")
            lines = [line for line in done.stderr.splitlines() if not line.startswith(b"symprof: warning")]
            self.assertLessEqual(len(lines), 2, (command, done.stderr[-500:]))
        out.unlink(missing_ok=True)
        return done.returncode

    def test_damaged_models(self):
        chance, codes = random.Random(20), []
        for name in ("corner", "gpt_functions", "train_attention.onnxslim"):
            data = (MODELS / f"{name}.onnx").read_bytes()
            for _ in range(8):
                broken = damaged(data, chance)
                with tempfile.TemporaryDirectory() as folder:
                    codes += [self.run_on(pathlib.Path(folder), command, broken) for command in READERS + WRITERS]
        self.assertIn(2, codes)

    def test_archives_without_and_with_weights(self):
        for model, least in (("tiny/convnet.pt2", 4), ("tiny/convnet.pt", 4)):
            source = pathlib.Path(__file__).resolve().parents[2] / "models" / model
            with self.subTest(model=model), tempfile.TemporaryDirectory() as folder:
                names = [f"{folder}/{name}{source.suffix}" for name in ("filled", "again", "stripped")]
                filled, again, stripped = map(pathlib.Path, names)
                for out in (filled, again):
                    subprocess.run([PROGRAM, "fill", str(source), "-o", str(out), "--quiet"], check=True)
                self.assertEqual(filled.read_bytes(), again.read_bytes())
                subprocess.run([PROGRAM, "strip", str(filled), "-o", str(stripped), "--largest", "0", "--quiet"], check=True)
                self.assertLess(stripped.stat().st_size + least, filled.stat().st_size)
                self.assertEqual(self.weights(stripped), 0)
                self.assertEqual(self.weights(filled), self.weights_of_profile(source))
                tables = [subprocess.run([PROGRAM, "profile", str(path), "--format", "csv"], capture_output=True, check=True).stdout
                          for path in (source, filled, stripped)]
                self.assertEqual(tables, [tables[0]] * 3)

    def test_archives_with_a_damaged_record(self):
        for model, record in (("convnet.pt2", "models/model.json"), ("convnet.pt", "data.pkl")):
            source = pathlib.Path(__file__).resolve().parents[2] / "models" / "tiny" / model
            with zipfile.ZipFile(source) as archive:
                entry = next(one for one in archive.infolist() if one.filename.endswith(record))
            data, name, header = bytearray(source.read_bytes()), entry.filename, entry.header_offset
            lengths = data[header + 26:header + 30]  # Of the name and of what comes before the data.
            begin = header + 30 + sum(int.from_bytes(lengths[at:at + 2], "little") for at in (0, 2))
            data[begin + entry.compress_size // 2] ^= 0x01
            for command in ("strip", "fill"):
                with self.subTest(model=model, command=command), tempfile.TemporaryDirectory() as folder:
                    broken, out = pathlib.Path(folder) / model, pathlib.Path(folder) / f"out-{model}"
                    broken.write_bytes(data)
                    done = subprocess.run([PROGRAM, command, str(broken), "-o", str(out)], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(name.split("/")[-1], done.stderr)
                    self.assertEqual([one.name for one in pathlib.Path(folder).iterdir()], [model])

    def weights(self, path):
        """Bytes of the records that hold tensors' data."""
        pattern = re.compile(r"[^/]+/data/(weights/weight_\d+|\d+)$")
        with zipfile.ZipFile(path) as archive:
            return sum(one.file_size for one in archive.infolist() if pattern.match(one.filename))

    def weights_of_profile(self, path):
        totals = json.loads(subprocess.run([PROGRAM, "profile", str(path), "--format", "json"],
                                           capture_output=True, check=True).stdout)["totals"]
        return totals["param_bytes"] + totals["buffer_bytes"]

    def test_written_models_are_read_again(self):
        for name in ("llama_part", "cnn", "train_mlp"):
            data = (MODELS / f"{name}.onnx").read_bytes()
            for command in WRITERS:
                with tempfile.TemporaryDirectory() as folder:
                    out = pathlib.Path(folder) / "out.onnx"
                    (pathlib.Path(folder) / "in.onnx").write_bytes(data)
                    arguments = [PROGRAM, command[0], f"{folder}/in.onnx", *command[1:], "-o", str(out), "--quiet"]
                    self.assertEqual(subprocess.run(arguments).returncode, 0, command)
                    profile = subprocess.run([PROGRAM, "stats", str(out)], capture_output=True)
                    self.assertEqual(profile.returncode, 0, (command, profile.stderr))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
