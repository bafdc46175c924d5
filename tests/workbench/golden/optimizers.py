"""The public optimizers of ONNX models, each as a function of a model; what is not installed fails when it is called. Used by oracle.py."""
import os
import tempfile

import onnx


def copy(m):
    c = onnx.ModelProto()
    c.CopyFrom(m)
    return c


def ort_level(m, level):
    import onnxruntime as ort

    so = ort.SessionOptions()
    so.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_ENABLE_" + level)
    so.log_severity_level = 4
    so.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as d:
        so.optimized_model_filepath = os.path.join(d, "m.onnx")
        ort.InferenceSession(m.SerializeToString(), so, providers=["CPUExecutionProvider"])
        return onnx.load(so.optimized_model_filepath)


def opt_onnxscript(m):
    import onnxscript.optimizer

    r = onnxscript.optimizer.optimize(copy(m))
    return r if r is not None else m


def opt_onnxscript_ort(m):
    import onnx_ir as ir
    from onnxscript.rewriter.ort_fusions import optimize_for_ort

    r = optimize_for_ort(ir.serde.deserialize_model(copy(m)))
    r = r[0] if isinstance(r, tuple) else r
    return ir.serde.serialize_model(r)


def opt_slim(m):
    import onnxslim

    return onnxslim.slim(copy(m))


def opt_sim(m):
    import onnxsim

    return onnxsim.simplify(copy(m))[0]


def opt_optimizer(m):
    import onnxoptimizer

    return onnxoptimizer.optimize(copy(m), onnxoptimizer.get_fuse_and_elimination_passes(), fixed_point=True)


OPTIMIZERS = {
    "ort_basic": lambda m: ort_level(m, "BASIC"),
    "ort_extended": lambda m: ort_level(m, "EXTENDED"),
    "ort_all": lambda m: ort_level(m, "ALL"),
    "onnxscript": opt_onnxscript,
    "onnxscript_ort": opt_onnxscript_ort,
    "onnxslim": opt_slim,
    "onnxsim": opt_sim,
    "onnxoptimizer": opt_optimizer,
}
