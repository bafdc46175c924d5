"""Files that were made to harm: each ends in a clear error or a correct result, in bounded memory.

    hostile.py PROGRAM [--peak-mib N] [unittest arguments]

--peak-mib is the most memory that a run may have at any time. Files are made here, in a folder that
goes afterwards; those of 1 GiB are sparse. Standard library only.
"""
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import hostile_models as make
import onnx_bytes as onnx

PROGRAM = ""
PEAK_MIB = 1024
SECONDS = 120
SHAPE = ["--input", "x=float32[4]"]


def run(arguments):
    """Exit code, standard output, standard error and the peak of resident memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        streams = [(os.POSIX_SPAWN_DUP2, file.fileno(), number) for number, file in [(1, out), (2, err)]]
        child = os.posix_spawn(PROGRAM, [PROGRAM, *arguments], os.environ, file_actions=streams)
        _, status, usage = os.wait4(child, 0)
        out.seek(0), err.seek(0)
        return os.waitstatus_to_exitcode(status), out.read(), err.read(), usage.ru_maxrss >> 10


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def profile(self, path, *options):
        code, out, err, peak = run(["profile", str(path), *options])
        self.assertLess(peak, PEAK_MIB, path.name)
        path.unlink()
        return code, out, err

    def refuse(self, path, wanted, *options):
        """Exit code 2 and a message with the file's name and `wanted`, on few short lines."""
        code, out, err = self.profile(path, *options)
        self.assertEqual((code, out), (2, ""), err[:2000])
        self.assertIn(str(path), err)
        self.assertIn(wanted, err)
        self.assertLess(len(err), 1500)

    def accept(self, path, *options):
        code, out, err = self.profile(path, *options, "--format", "json")
        self.assertEqual(code, 0, err[:2000])
        return json.loads(out)


class Garbage(Hostile):
    def test_a_gibibyte_of_anything(self):
        noise = os.urandom(4096).replace(b"\x08", b"\x01")
        for name in ["noise.onnx", "noise.pt2", "noise.pt"]:
            wanted = "not an ONNX model" if name.endswith("onnx") else "is not a model"
            self.refuse(make.sparse(self.path(name), b"\xff" + noise), wanted)
        for name in ["archive.onnx", "archive.pt2", "archive.pt"]:
            self.refuse(make.sparse(self.path(name), b"PK\x03\x04"), "cannot be opened as a zip archive")
        self.refuse(make.sparse(self.path("pickle.pt"), b"\x80\x02"), "is a checkpoint")
        self.refuse(make.sparse(self.path("zeros.onnx"), b"\x08\x08"), "a field with the number 0")

    def test_a_gibibyte_of_text_in_a_model(self):
        length = onnx.varint(make.GIB - 64)
        self.refuse(make.sparse(self.path("text.onnx"), b"\x08\x08\x32" + length), "beside its weights")
        self.refuse(make.sparse(self.path("graph.onnx"), b"\x08\x08\x3a" + length), "a field with the number 0")

    def test_weights_are_stepped_over(self):
        for where in ["initializer", "node"]:
            path = make.large_constant(self.path(f"{where}.onnx"), where)
            self.assertGreater(path.stat().st_size, make.GIB)
            self.assertEqual(self.accept(path)["coverage"]["calls"], 1)


class Archives(Hostile):
    def test_constants_that_begin_beyond_their_record(self):
        for offset in [0, 4, 1 << 62, (1 << 63) - 1]:
            path = make.constant_at(self.path("constant.pt2"), offset)
            self.assertEqual(self.accept(path)["coverage"]["calls"], 1)

    def test_weights_that_cannot_be_filled(self):
        for size, offset, wanted in [(1 << 61, 0, "more bytes than 64 bits count"),
                                     (4, (1 << 63) - 1, "does not say how large")]:
            path, filled = make.weight_without_data(self.path("weights.pt2"), size, offset), self.path("filled.pt2")
            code, out, err, _ = run(["fill", str(path), "-o", str(filled)])
            self.assertEqual((code, out), (2, ""))
            self.assertIn(wanted, err)
            self.assertEqual([each.name for each in path.parent.iterdir()], [path.name])

    def test_bombs(self):
        self.refuse(make.bomb(self.path("json.pt2"), "m/models/model.json", 3 * make.GIB), "at most 256 MiB are read")
        self.refuse(make.bomb(self.path("spaces.pt2"), "m/models/model.json", 250 << 20), "is not well-formed JSON")
        records = make.script_records(make.net(["return x"]))
        for name in ["m/code/other.py", "m/other.pkl", "m/extra/notes"]:
            path = make.bomb(self.path("bomb.pt"), name, 256 << 20, records)
            self.refuse(path, "unpack to more than", *SHAPE)
        path = make.bomb(self.path("tensor.pt"), "m/data/0", 256 << 20, records)
        self.refuse(path, "unpack to more than", *SHAPE)

    def test_sizes_that_cannot_be(self):
        for size in [0xFFFFFFFE, 1 << 31, 50_000_000]:
            path = make.raw_zip(self.path("claim.pt2"), [("m/models/model.json", b"x" * 40, size, 0, None)])
            self.refuse(path, "model.json")

    def test_entries_over_one_another(self):
        entries = [("m/models/model.json", b"\x03\x00", 0, 0, None)]
        entries += [(f"m/models/{i}.json", b"", 1 << 30, 0, 0) for i in range(60_000)]
        self.refuse(make.raw_zip(self.path("overlap.pt2"), entries), "overlap.pt2")

    def test_names(self):
        names = ["/etc/passwd", "m/../../x", "m/" + "d/" * 30_000, "m/models/model.json", "m/models/model.json"]
        good = make.program([make.relu("x", "y")])
        path = make.exported(self.path("names.pt2"), good, [(name, b"{}") for name in names[:3]])
        self.assertEqual(self.accept(path)["coverage"]["calls"], 1)
        self.assertFalse(os.path.exists(pathlib.Path(self.folder.name) / "etc"))

    def test_many_records(self):
        good = make.program([make.relu("x", "y")])
        path = make.exported(self.path("many.pt2"), good, [(f"m/extra/{i}", b"") for i in range(60_000)])
        self.assertEqual(self.accept(path)["coverage"]["calls"], 1)


class Large(Hostile):
    def test_a_hundred_thousand_nodes(self):
        started = time.monotonic()
        for path in [make.chain(self.path("chain.onnx"), 100_000), self.exported_chain(100_000)]:
            report = self.accept(path)
            self.assertEqual(report["coverage"]["calls"], 100_000, path.name)
            self.assertEqual(report["totals"]["fwd_flops_all"], 4 * 100_000)
        self.assertLess(time.monotonic() - started, SECONDS)

    def exported_chain(self, count):
        nodes = [make.relu(f"v{i}" if i else "x", f"v{i + 1}") for i in range(count)]
        return make.exported(self.path("chain.pt2"), make.program(nodes, result=f"v{count}"))

    def test_functions_that_multiply(self):
        relu = [onnx.node("Relu", ["a"], ["b"])]
        self.refuse(make.laughs(self.path("laughs.onnx"), 40, relu), "once its functions are inlined")
        nothing = [onnx.node("Identity", ["a"], ["b"])]
        self.refuse(make.laughs(self.path("empty.onnx"), 40, nothing), "once its functions are inlined")
        report = self.accept(make.laughs(self.path("few.onnx"), 10, relu))
        self.assertEqual(report["coverage"]["calls"], 2 ** 10)

    def test_functions_that_do_not_end(self):
        call = lambda name: [onnx.node(name, ["a"], ["b"], domain="local")]
        self.refuse(make.functions(self.path("self.onnx"), {"f0": call("f0")}), "calls itself")
        self.refuse(make.functions(self.path("two.onnx"), {"f0": call("f1"), "f1": call("f0")}), "calls itself")
        deep = {f"f{i}": call(f"f{i + 1}") for i in range(10_000)} | {"f10000": [onnx.node("Relu", ["a"], ["b"])]}
        self.refuse(make.functions(self.path("deep.onnx"), deep), "nested more than")


class Deep(Hostile):
    def test_subgraphs(self):
        self.refuse(make.nested_if(self.path("if.onnx"), 10_000), "subgraphs are nested more than 33 deep")
        self.refuse(make.nested_if(self.path("forty.onnx"), 40), "nested more than 33 deep")

    def test_json(self):
        for opening in ["[", '{"a":']:
            self.refuse(make.exported(self.path("deep.pt2"), opening * 10_000), "not well-formed JSON")

    def test_module_scopes(self):
        node = onnx.node("Relu", ["x"], ["y"], "/a" * 10_000 + "/Relu")
        path = self.path("scopes.onnx")
        path.write_bytes(onnx.model([node], {"x": [4]}, {"y": [4]}))
        self.assertEqual(self.accept(path)["coverage"]["calls"], 1)
        stack = ";".join(f"k{i},m{i},T" for i in range(10_000))
        path = make.exported(self.path("scopes.pt2"), make.program([make.relu("x", "y", stack)]))
        self.assertEqual(self.accept(path)["coverage"]["calls"], 1)

    def test_sizes(self):
        for sizes in [(1 << 40, 1 << 40), (1 << 62,), (-4,)]:
            path = make.exported(self.path("sizes.pt2"), make.program([make.relu("x", "y")], sizes))
            self.refuse(path, "bytes" if sizes[0] > 0 else "-4")
        path = self.path("sizes.onnx")
        path.write_bytes(onnx.model([onnx.node("Relu", ["x"], ["y"])], {"x": [1 << 40, 1 << 40]}, {"y": [4]}))
        code, _, err = self.profile(path)
        self.assertEqual(code, 2)
        self.assertIn("more than 2^50 bytes", err)

    def test_names_that_repeat_or_miss(self):
        twice = [make.relu("x", "y"), make.relu("x", "y")]
        self.refuse(make.exported(self.path("twice.pt2"), make.program(twice)), "defined a second time")
        circle = [make.relu("b", "y"), make.relu("y", "b")]
        for nodes in [circle, [make.relu("z", "y")]]:
            self.refuse(make.exported(self.path("missing.pt2"), make.program(nodes)), "nothing before it defines")


class Scripts(Hostile):
    def refuse_code(self, body, wanted, before=""):
        self.refuse(make.script(self.path("deep.pt"), make.net(body, before)), wanted, *SHAPE)

    def test_expressions(self):
        many = 10_000
        for expression in ["(" * many + "x" + ")" * many, "-" * many + "x", "+".join(["x"] * many),
                           "x" + ".a" * many, "x" + "[0]" * many, "not " * many + "x"]:
            self.refuse_code([f"return {expression}"], "parts that hang on one another")

    def test_expressions_at_the_limit(self):
        """Accepted files do not crash the program either."""
        for expression in ["(" * 990 + "x" + ")" * 990, "-" * 990 + "x", "+".join(["x"] * 490)]:
            path = make.script(self.path("limit.pt"), make.net([f"return {expression}"]))
            self.assertIn(self.profile(path, *SHAPE)[0], (0, 2))

    def test_blocks(self):
        blocks = [" " * depth + "if True:" for depth in range(10_000)] + [" " * 10_000 + "x = x", "return x"]
        self.refuse_code(blocks, "blocks are nested more than")
        branches = ["if True:", "  x = x"] + ["elif True:", "  x = x"] * 10_000 + ["return x"]
        self.refuse_code(branches, "branches")

    def test_classes(self):
        head = "class C{}(Module):\n  __parameters__ = []\n  __buffers__ = []\n  c : __torch__.C{}\n"
        chain = "".join(head.format(i, i + 1) for i in range(2_000))
        last = "class C2000(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
        code = make.net(["return x"], last + chain)
        code = code.replace("training : bool\n  def", "training : bool\n  c : __torch__.C0\n  def")
        path = make.script(self.path("classes.pt"), code)
        self.assertIn(self.profile(path, *SHAPE)[0], (0, 2))

    def test_pickles(self):
        code = make.net(["return x"])
        pickles = {b"\x80\x02N" + b"\x85" * 10_000 + b".": "nested more than",
                   b"\x80\x02" + b"]" * 10_000 + b"a" * 9_999 + b".": "nested more than",
                   b"\x80\x02]q\x00h\x00a.": "others refer to", b"\x80\x02h\x07.": "does not have",
                   b"\x80\x02]r\xff\xff\xff\xff.": "slot 4294967295",
                   b"\x80\x02a.": "more from the stack", b"\x80\x02X\xff\xff\xff\xffx.": "ends too soon"}
        for pickle, wanted in pickles.items():
            self.refuse(make.script(self.path("pickle.pt"), code, pickle), wanted, *SHAPE)

    def test_code_without_an_end(self):
        loop = "for i in range(9223372036854775807):"
        self.refuse_code([loop, "  x = torch.relu(x)", "return x"], "operators")
        self.refuse_code(["n = 0", loop, "  n = torch.add(n, 1)", "return x"], "steps")
        self.refuse_code(["return (self).forward(x, )"], "deep")

    def test_a_good_script(self):
        path = make.script(self.path("good.pt"), make.net(["return torch.relu(x)"]))
        self.assertEqual(self.accept(path, *SHAPE)["coverage"]["calls"], 1)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--peak-mib" in sys.argv:
        at = sys.argv.index("--peak-mib")
        PEAK_MIB = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
