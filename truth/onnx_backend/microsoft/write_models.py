#!/usr/bin/env python3
"""Writes two small transformers as PyTorch exports them and as onnxruntime's optimizer leaves them, without weights.

    venv/bin/python truth/onnx_backend/microsoft/write_models.py     # with requirements-models.txt and onnxruntime

Two layers of BERT and of GPT-2 (classical.py). onnxruntime.transformers.optimizer puts
Attention, SkipLayerNormalization, BiasGelu, EmbedLayerNormalization … in place of what the exporter wrote.
`optimized` is its Python fusions; `extended` is onnxruntime's own optimization of level 2; `quantized` is the optimized
model with 8-bit weights and inputs (quantize_dynamic) after that; `4_bits` has weights of 4 bits."""
import pathlib
import sys
import tempfile
import warnings

import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, matmul_nbits_quantizer, quantize_dynamic
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "models"))
import classical
import onnx_file

BATCH, LENGTH, HIDDEN, HEADS, LAYERS, VOCABULARY, LONGEST = 2, 16, 64, 2, 2, 96, 32


def bert():
    tokens = torch.zeros(BATCH, LENGTH, dtype=torch.int64)
    inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "token_type_ids": tokens}
    return classical.Bert(VOCABULARY, HIDDEN, HEADS, LAYERS, LONGEST), inputs


def gpt2():
    inputs = {"input_ids": torch.zeros(BATCH, LENGTH, dtype=torch.int64)}
    return classical.Gpt2(VOCABULARY, HIDDEN, HEADS, LAYERS, LONGEST), inputs


def export(module, inputs, path):
    with torch.no_grad():
        for parameter in module.parameters():  # The exporter merges weights of equal content.
            parameter.normal_()
        torch.onnx.export(module.eval(), tuple(inputs.values()), str(path), dynamo=False, opset_version=17,
                          input_names=list(inputs), output_names=["y"],
                          dynamic_axes={name: {0: "batch", 1: "sequence"} for name in inputs})


def extended(path, target):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return onnx.load(target)


def quantized(path, target):
    types = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    quantize_dynamic(str(path), str(target), weight_type=QuantType.QInt8, extra_options=types)
    return extended(target, target.with_suffix(".extended"))


def with_4_bits(path):
    quantizer = matmul_nbits_quantizer.MatMulNBitsQuantizer(onnx.load(path), block_size=32, is_symmetric=True)
    quantizer.process()
    return quantizer.model.model


def write(model, path):
    for tensor in model.graph.initializer:
        if onnx_file.raw_size(tensor) > onnx_file.KEPT:
            onnx_file.drop_data(tensor)
    for node in model.graph.node:
        node.ClearField("doc_string")
    path.write_bytes(model.SerializeToString(deterministic=True))
    operators = sorted({f"{node.domain}::{node.op_type}".lstrip(":") for node in model.graph.node})
    print(path.name, path.stat().st_size, "bytes:", len(model.graph.node), "nodes:", ", ".join(operators))


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, build in (("bert", bert), ("gpt2", gpt2)):
            plain, fused = folder / "plain.onnx", folder / "fused.onnx"
            export(*build(), plain)
            write(onnx.load(plain), HERE / f"{name}.onnx")
            optimized = optimizer.optimize_model(str(plain), name, HEADS, HIDDEN, FusionOptions(name), opt_level=0)
            optimized.save_model_to_file(str(fused))
            write(onnx.load(fused), HERE / f"{name}_optimized.onnx")
            write(extended(plain, folder / "extended.onnx"), HERE / f"{name}_extended.onnx")
        write(quantized(fused, folder / "quantized.onnx"), HERE / "gpt2_quantized.onnx")
        write(with_4_bits(fused), HERE / "gpt2_4_bits.onnx")


if __name__ == "__main__":
    main()
