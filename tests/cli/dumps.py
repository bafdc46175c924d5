"""Dumps: files that onnx-diagnostic wrote and read (truth/dumps/), listed, exported, replayed; and invalid files.

    dumps.py PROGRAM [unittest arguments]
"""
import hashlib
import json
import pathlib
import struct
import tempfile
import unittest
import zipfile

import program

DUMPS = program.ROOT / "truth" / "dumps"
GOLDEN = program.ROOT / "tests" / "workbench" / "golden" / "models"


def exported(dump, form, folder):
    out = pathlib.Path(folder) / f"{pathlib.Path(dump).stem}.{form}"
    done = program.run("restore", str(dump), "--as", form, "-o", str(out))
    assert done.returncode == 0, done.stderr
    return out


def rows_of(dump, folder):
    """(key, path, dtype, shape, SHA-1) of each tensor, its bytes by an export."""
    raw = exported(dump, "raw", folder)
    for entry in program.read("restore", str(dump))["entries"]:
        for tensor in entry["tensors"]:
            data = (raw / f"{tensor['name']}.bin").read_bytes()
            if tensor["kind"] == "text":
                data = b"\n".join(data.split(b"\0")[:-1])
            yield [entry["key"], tensor["path"], tensor["dtype"], tensor["shape"], hashlib.sha1(data).hexdigest()]


class PythonTool(unittest.TestCase):
    """Rows that onnx-diagnostic restored; those of a None are its absence."""

    def check(self, name):
        wanted = [[row[0], row[1], row[3], row[4], row[5]] for row in json.loads((DUMPS / f"{name}.json").read_text())
                  if row[2] != "none"]
        with tempfile.TemporaryDirectory() as folder:
            got = list(rows_of(DUMPS / f"{name}.onnx", folder))
        return wanted, got

    def test_what_it_wrote_is_read(self):
        for name in ("plot_dump", "runs", "limited"):
            with self.subTest(name):
                wanted, got = self.check(name)
                self.assertEqual(got, wanted)

    def test_every_kind_of_value_that_it_writes_is_read(self):
        wanted, got = self.check("values")
        self.assertEqual([row for row in got if row[0] != "gap"], wanted)

    def test_it_reads_what_symprof_writes(self):
        wanted, got = self.check("symprof")
        # It has numbers of four bits in a byte each.
        packed = {"int4", "uint4"}
        self.assertEqual([row[:4] for row in got], [row[:4] for row in wanted])
        self.assertEqual([row for row in got if row[2] not in packed], [row for row in wanted if row[2] not in packed])


class Replay(unittest.TestCase):
    def replay(self, model, *arguments, code=0):
        return program.read("restore", str(DUMPS / "plot_dump.onnx"), "--replay", str(model), *arguments, code=code)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with zipfile.ZipFile(DUMPS / "plot_dump.model.zip") as packed:
            packed.extractall(self.folder)

    def test_modules_of_a_pt2_answer_as_those_of_pytorch(self):
        answer = self.replay(self.folder / "model.pt2")
        self.assertEqual((answer["within"], answer["beyond"], answer["not_compared"]), (6, 0, 0))
        # Zero on the processor that computed the dump; the products of another one are rounded otherwise.
        self.assertLess(max(output["absolute"] for call in answer["calls"] for output in call["outputs"]), 2 ** -20)

    def test_a_dump_of_one_format_is_replayed_in_the_other(self):
        for dumped, replayed in (("model.pt2", "model.onnx"), ("model.onnx", "model.pt2")):
            with self.subTest(dumped):
                dump = self.folder / f"{dumped}.dump.onnx"
                done = program.run("dump", str(self.folder / dumped), "--module", "decoder", "--module", "decoder.norm_*",
                                   "--module", "", "--runs", "2", "-o", str(dump), "--quiet")
                self.assertEqual(done.returncode, 0, done.stderr)
                answer = program.read("restore", str(dump), "--replay", str(self.folder / replayed))
                self.assertEqual((answer["within"], answer["beyond"], answer["not_compared"]), (8, 0, 0))

    def test_torchscript_without_the_data_of_a_weight_is_refused(self):
        answer = program.run("dump", "models/tiny/mlp.pt", "--module", "", "--input", "x=float32[2,64]", "-o", str(self.folder / "no.onnx"))
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("its values are not there", answer.stderr)

    def test_torchscript_is_dumped_with_its_weights(self):
        dump, model = self.folder / "script.onnx", str(self.folder / "model.pt")
        done = program.run("dump", model, "--module", "decoder", "--module", "", "-o", str(dump), "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = program.read("restore", str(dump), "--replay", str(self.folder / "model.pt2"))
        self.assertEqual((answer["within"], answer["beyond"], answer["not_compared"]), (2, 0, 0))

    def test_modules_of_the_exported_model_answer_as_those_of_pytorch(self):
        answer = self.replay(self.folder / "model.onnx")
        self.assertEqual((answer["within"], answer["beyond"], answer["not_compared"]), (6, 0, 0))
        for call in answer["calls"]:
            for output in call["outputs"]:
                self.assertLess(output["absolute"], 1e-5, call["name"])

    def test_a_weight_that_is_another_one_is_found_in_its_module_alone(self):
        data = bytearray((self.folder / "model.onnx").read_bytes())
        at = data.index(b"decoder.feed_forward.linear_2.bias", data.index(b"B\x22decoder.feed_forward.linear_2.bias") - 200)
        raw = data.index(b"J\x40", at - 80)  # raw_data of 16 floats.
        struct.pack_into("<f", data, raw + 2, 1000.0)
        broken = self.folder / "broken.onnx"
        broken.write_bytes(data)
        answer = self.replay(broken, code=1)
        beyond = {call["name"] for call in answer["calls"] if not all(one["is_within"] for one in call["outputs"])}
        self.assertEqual(beyond, {"model", "model.decoder", "model.decoder.feed_forward"})

    def test_another_model_has_nothing_to_compare(self):
        done = program.run("restore", str(DUMPS / "runs.onnx"), "--replay", str(self.folder / "model.onnx"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("nothing of the dump could be compared", done.stderr)

    def test_a_dump_of_two_runs_is_replayed_by_an_optimized_model(self):
        dump = self.folder / "llama.onnx"
        done = program.run("dump", str(GOLDEN / "llama.onnx"), "--module", "", "--module", "layers.*.mlp", "--runs", "2",
                           "--weights", "-o", str(dump), "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        keys = [entry["key"] for entry in program.read("restore", str(dump))["entries"]]
        inner = [f"('layers.{layer}.mlp', {{}}, '{side}')" for layer in (0, 1) for side in "IO"]
        first = ["('', 0, 'I')", "('', 0, 'W')", inner[0], "('layers.0.mlp', 0, 'W')", inner[1], inner[2],
                 "('layers.1.mlp', 0, 'W')", inner[3], "('', 0, 'O')"]
        second = ["('', 1, 'I')", *inner, "('', 1, 'O')"]
        self.assertEqual(keys, [key.format(0) for key in first] + [key.format(1) for key in second])
        for model in ("llama", "llama.onnxslim", "llama.ort_basic"):
            answer = program.read("restore", str(dump), "--replay", str(GOLDEN / f"{model}.onnx"))
            self.assertGreaterEqual(answer["within"], 2, model)
            self.assertEqual(answer["beyond"], 0, model)


class Export(unittest.TestCase):
    def test_npz_and_npy_hold_the_same_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            npz, npy = (exported(DUMPS / "symprof.onnx", form, folder) for form in ("npz", "npy"))
            with zipfile.ZipFile(npz) as archive:
                self.assertEqual(sorted(archive.namelist()), sorted(path.name for path in npy.iterdir()))
                for name in archive.namelist():
                    self.assertEqual(archive.read(name), (npy / name).read_bytes(), name)
                header = archive.read("extra-0.bfloat16.npy")[:80]
            self.assertTrue(header.startswith(b"\x93NUMPY\x01\0"))
            self.assertIn(b"'descr': '|V2', 'fortran_order': False, 'shape': (1, 3), ", header)

    def test_safetensors_has_every_tensor_at_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            data = exported(DUMPS / "runs.onnx", "safetensors", folder).read_bytes()
        length = struct.unpack_from("<Q", data)[0]
        header, begin = json.loads(data[8:8 + length]), 8 + length
        self.assertEqual(begin % 8, 0)
        header.pop("__metadata__")
        ends = sorted(tuple(entry["data_offsets"]) for entry in header.values())
        self.assertEqual([first for first, _ in ends], [0, *(last for _, last in ends[:-1])])
        self.assertEqual(begin + ends[-1][1], len(data))
        mask = header["outer-1-I-1.mask"]
        self.assertEqual((mask["dtype"], mask["shape"]), ("BOOL", [2, 3]))
        self.assertEqual(data[begin + mask["data_offsets"][0]:][:6], bytes([0, 0, 0, 1, 1, 1]))

    def test_what_cannot_be_exported_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            there = pathlib.Path(folder) / "there"
            there.mkdir()
            for arguments in (["--as", "npy", "-o", str(there)], ["--as", "safetensors", "-o", f"{folder}/x"],
                              ["--as", "raw", "--entry", "nobody", "-o", f"{folder}/x"], ["--as", "txt", "-o", f"{folder}/x"],
                              ["--as", "npz"]):
                done = program.run("restore", str(DUMPS / "symprof.onnx"), *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
                self.assertLessEqual(len(done.stderr.splitlines()), 2, done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [there])


class Lies(unittest.TestCase):
    def refused(self, data, outside=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "dump.onnx"
            path.write_bytes(data)
            if outside is not None:
                (pathlib.Path(folder) / "plot_dump.onnx.data").write_bytes(outside)
            done = program.run("restore", str(path))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertLessEqual(len(done.stderr.splitlines()), 2, done.stderr)
        return done.stderr

    def test_a_dump_that_is_cut_short(self):
        data = (DUMPS / "symprof.onnx").read_bytes()
        for size in range(0, len(data) - 1, len(data) // 20):
            self.refused(data[:size])

    def test_data_that_is_cut_short_or_elsewhere(self):
        model, data = ((DUMPS / name).read_bytes() for name in ("plot_dump.onnx", "plot_dump.onnx.data"))
        self.assertIn("ends before the data of", self.refused(model, data[:1000]))
        self.assertIn("is not there", self.refused(model))
        self.assertIn("in the folder of the model", self.refused(model.replace(b"plot_dump.onnx.data", b"../dump.onnx.data.x"), data))
        self.assertIn("is said to have", self.refused(model.replace(b"3840", b"3841"), data))

    def test_a_model_is_no_dump(self):
        self.assertIn("no dump", self.refused((GOLDEN / "cnn.onnx").read_bytes()))

    def test_questions_that_have_no_answer(self):
        model = str(GOLDEN / "llama.onnx")
        for arguments, text in ((["--module", "layers.*.mlpp", "-o", "/tmp/x.onnx"], "layers.0.mlp"),
                                (["--node", "nobody*", "-o", "/tmp/x.onnx"], "matches no node"),
                                (["-o", "/tmp/x.onnx"], "no calls were chosen"),
                                (["--module", ""], "-o"),
                                (["--module", "", "--runs", "0", "-o", "/tmp/x.onnx"], "one run")):
            done = program.run("dump", model, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(text, done.stderr)

    def test_what_is_larger_than_the_limit_is_left_out_and_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = program.run("dump", str(GOLDEN / "llama.onnx"), "--module", "", "--limit", "300", "-o", f"{folder}/d.onnx")
            self.assertEqual(done.returncode, 0)
            self.assertIn("('', 0, 'O') is larger than --limit and left out", done.stderr)
            self.assertEqual([one["key"] for one in program.read("restore", f"{folder}/d.onnx")["left_out"]], ["('', 0, 'O')"])


if __name__ == "__main__":
    program.main()
