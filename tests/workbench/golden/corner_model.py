"""A model by hand: what the text of a model must show. Used by make_golden.py."""
import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
from onnx import TensorProto as TP


def corner():
    """Subgraphs, functions with attributes, every kind of attribute, empty names, small and big initializers, many types."""
    f, i, b = TP.FLOAT, TP.INT64, TP.BOOL
    then = oh.make_graph([oh.make_node("Add", ["h", "one"], ["t_out"], name="then_add")], "then", [], [oh.make_tensor_value_info("t_out", f, ["N", 4])], [onh.from_array(np.array([1.0], np.float32), "one")])
    inner = oh.make_graph([oh.make_node("Identity", ["h"], ["ee"])], "inner", [], [oh.make_tensor_value_info("ee", f, ["N", 4])])
    other = oh.make_graph([oh.make_node("If", ["flag"], ["e_out"], name="nested", then_branch=inner, else_branch=inner)], "else", [], [oh.make_tensor_value_info("e_out", f, ["N", 4])])
    body = oh.make_graph(
        [
            oh.make_node("Add", ["acc", "h"], ["acc2"]),
            oh.make_node("Identity", ["cond_in"], ["cond_out"]),
            oh.make_node("ReduceSum", ["acc2"], ["scan_out"], keepdims=0),
        ],
        "loop",
        [oh.make_tensor_value_info("it", i, []), oh.make_tensor_value_info("cond_in", b, []), oh.make_tensor_value_info("acc", f, ["N", 4])],
        [oh.make_tensor_value_info("cond_out", b, []), oh.make_tensor_value_info("acc2", f, ["N", 4]), oh.make_tensor_value_info("scan_out", f, [])],
    )
    fn = oh.make_function(
        "my.domain", "Scaled", ["x"], ["y"],
        [oh.make_node("LeakyRelu", ["x"], ["t"]), oh.make_node("Mul", ["t", "t"], ["y"])],
        [oh.make_opsetid("", 20)], attributes=["slope"],
    )
    a = fn.node[0].attribute.add()
    a.name, a.ref_attr_name, a.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    fn.doc_string = "a function with one attribute, and a text longer than fifty-five characters"
    fn2 = oh.make_function("my.domain", "Twice", ["x"], ["y"], [oh.make_node("Scaled", ["x"], ["u"], domain="my.domain", slope=0.5), oh.make_node("Scaled", ["u"], ["y"], domain="my.domain", slope=0.25)], [oh.make_opsetid("", 20), oh.make_opsetid("my.domain", 1)])
    nodes = [
        oh.make_node("MatMul", ["X", "W"], ["h"], name="mm"),
        oh.make_node("ReduceSum", ["h"], ["total"], keepdims=0, name="sum"),
        oh.make_node("Greater", ["total", "zero"], ["flag"], name="gt"),
        oh.make_node("If", ["flag"], ["branch"], name="if", then_branch=then, else_branch=other),
        oh.make_node("Loop", ["three", "", "branch"], ["looped", "scans"], name="loop", body=body),
        oh.make_node("Twice", ["looped"], ["twice"], domain="my.domain", name="twice"),
        oh.make_node("Clip", ["twice", "", "cmax"], ["clipped"], name="clip"),
        oh.make_node("Dropout", ["clipped"], ["drop"], seed=3, name="drop"),  # an output named "" would make the text tool fail
        oh.make_node("Split", ["drop"], ["s0", "s1"], axis=1, num_outputs=2, name="split"),
        oh.make_node("Cast", ["s0"], ["half"], to=TP.FLOAT16, name="cast16"),
        oh.make_node("Cast", ["half"], ["back"], to=TP.FLOAT, name="cast32"),
        oh.make_node("Constant", [], ["c_t"], value=onh.from_array(np.arange(12, dtype=np.float32).reshape(3, 4))),
        oh.make_node("Constant", [], ["c_i"], value_int=7),
        oh.make_node("Constant", [], ["c_f"], value_float=0.1),
        oh.make_node("Constant", [], ["c_fs"], value_floats=[0.5, 1.5]),
        oh.make_node("Constant", [], ["c_is"], value_ints=[1, 2, 3, 4, 5, 6, 7]),
        oh.make_node("Constant", [], ["c_s"], value_string="text"),
        oh.make_node("Constant", [], ["c_ss"], value_strings=["a", "b"]),
        oh.make_node("Transpose", ["back"], ["tr"], perm=[1, 0], name="tr"),
        oh.make_node("Einsum", ["tr", "s1"], ["ein"], equation="ij,jk->ik", name="einsum"),
        oh.make_node("LayerNormalization", ["ein", "g"], ["ln"], axis=-1, epsilon=1e-5, name="ln"),
        oh.make_node("Gelu", ["ln"], ["Y"], approximate="tanh", name="gelu"),
    ]
    inits = [
        onh.from_array(np.linspace(-1, 1, 12).astype(np.float32).reshape(3, 4), "W"),
        onh.from_array(np.array(0.0, np.float32), "zero"),
        onh.from_array(np.array(3, np.int64), "three"),
        onh.from_array(np.array(2.5, np.float32), "cmax"),
        onh.from_array(np.array([1, 2], np.float32), "g"),
        onh.from_array(np.array([True, False]), "unused_bool"),
        onh.from_array(np.array([1.5, -2], np.float16), "unused_half"),
        onh.from_array(np.array([1, 2, 3], np.int8), "unused_int8"),
        onh.from_array(np.array([1, 2, 3, 4], np.uint8), "unused_uint8"),
        onh.from_array(np.array([1e-8, np.inf, np.nan, -np.inf], np.float64), "unused_double"),
        onh.from_array(np.arange(5, dtype=np.int32), "unused_int32"),
    ]
    inits[0].doc_string = "where the weight comes from"
    g = oh.make_graph(nodes, "corner", [oh.make_tensor_value_info("X", f, ["N", 3])], [oh.make_tensor_value_info("Y", f, [2, 2]), oh.make_tensor_value_info("c_t", f, [3, 4])], inits)
    m = oh.make_model(g, functions=[fn, fn2], opset_imports=[oh.make_opsetid("", 20), oh.make_opsetid("my.domain", 1)], ir_version=10)
    m.doc_string = "what the text must show"
    onnx.checker.check_model(m)
    return m
