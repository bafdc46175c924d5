"""What the program must refuse: command lines and files."""
import onnx_bytes as onnx

MODEL = "models/tiny/mlp.pt2"


def write_broken_models(folder, whole):
    """Files that cannot be profiled, each for one reason; `whole` is a .pt2 file."""
    vector, matrix = {"x": [4]}, {"x": [2, 3], "y": [4, 5]}
    files = {
        "empty.pt2": b"",
        "notes.txt": b"Nothing that a model would hold.\n",
        "truncated.pt2": whole.read_bytes()[:9000],
        "cyclic.onnx": onnx.model([onnx.node("Add", ["x", "b"], ["a"], "first"),
                                   onnx.node("Relu", ["a"], ["b"], "second")], vector, {"b": [4]}),
        "dangling.onnx": onnx.model([onnx.node("Add", ["x", "nowhere"], ["z"], "sum")], vector,
                                    {"z": [4]}),
        "unknown_op.onnx": onnx.model([onnx.node("Swizzle", ["x"], ["z"], "odd", "com.acme")], vector,
                                      {"z": [4]}, domains=["com.acme"]),
        "wrong_shape.onnx": onnx.model([onnx.node("MatMul", ["x", "y"], ["z"], "product")], matrix,
                                       {"z": [2, 5]}),
        "data_dependent.onnx": onnx.model([onnx.node("NonZero", ["x"], ["z"], "where")], vector,
                                          {"z": [1, "n"]}),
        "unbound.onnx": onnx.model([onnx.node("Relu", ["x"], ["z"], "relu")], {"x": ["batch", 4]},
                                   {"z": ["batch", 4]}),
        "bad_device.json": b'{"name": "mine"}',
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)


ERRORS = [
    ["prfile", MODEL],
    ["--mode", "train"],
    ["profile"],
    ["profile", "--hepl"],
    ["profile", MODEL, "--formt", "json"],
    ["profile", MODEL, "--format"],
    ["profile", MODEL, "--mode", "eval", "--mode", "train"],
    ["profile", MODEL, "second.pt2"],
    ["profile", MODEL, "--mode", "trian"],
    ["profile", MODEL, "--loss", "crossentropy"],
    ["profile", MODEL, "--optimizer", "adamv"],
    ["profile", MODEL, "--optimizer", "adamw:fuse"],
    ["profile", MODEL, "--optimizer", "none:fused"],
    ["profile", MODEL, "--optimizer", "lion:fused"],
    ["profile", MODEL, "--clip-grad-norm"],
    ["profile", MODEL, "--optimizer", "sgd", "--mode", "inference", "--grad-scaler"],
    ["profile", MODEL, "--optimizer", "sgd", "--dtype", "fp16", "--grad-scaler"],
    ["profile", MODEL, "--mode", "inference", "--optimizer", "adamw"],
    ["profile", MODEL, "--mode", "inference", "--micro-batches", "4"],
    ["profile", MODEL, "--kv-cache", "8", "--checkpoint", "*"],
    ["profile", MODEL, "--micro-batches", "99999999999"],
    ["profile", MODEL, "--optimizer", "sgd", "--master-weights"],
    ["profile", MODEL, "--autocast", "fp8"],
    ["profile", MODEL, "--dtype", "bf15"],
    ["profile", MODEL, "--attention", "flsh"],
    ["profile", MODEL, "--unbacked", "mx"],
    ["profile", MODEL, "--device", "h20"],
    ["profile", MODEL, "--device", "bad_device.json"],
    ["profile", MODEL, "--device", "missing.json"],
    ["profile", MODEL, "--by", "modul"],
    ["profile", MODEL, "--sort", "fwdflops"],
    ["profile", MODEL, "--columns", "op,outptu"],
    ["profile", MODEL, "--depth", "0"],
    ["profile", MODEL, "--depth", "2", "--by", "op"],
    ["profile", MODEL, "--top", "many"],
    ["profile", MODEL, "--unit", "mac"],
    ["profile", MODEL, "--format", "jsn"],
    ["profile", MODEL, "--input", "x=float32"],
    ["profile", MODEL, "--input", "nothing=float32[8,3]"],
    ["profile", MODEL, "--set", "batch"],
    ["profile", MODEL, "--set", "batch=8"],
    ["profile", MODEL, "-o", "no/such/folder/out.txt"],
    ["profile", "models/tiny/mpl.pt2"],
    ["profile", "models"],
    ["profile", "empty.pt2"],
    ["profile", "notes.txt"],
    ["profile", "truncated.pt2"],
    ["profile", "cyclic.onnx"],
    ["profile", "dangling.onnx"],
    ["profile", "unknown_op.onnx"],
    ["profile", "wrong_shape.onnx"],
    ["profile", "data_dependent.onnx"],
    ["profile", "unbound.onnx"],
    ["devices", "--format", "xml"],
    ["ops", "--by", "op"],
]
