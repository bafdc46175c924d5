// The ONNX front end: a .onnx file in, a Graph out. Needs protobuf, no LibTorch.
//
// Classification of an initializer:
//   0. named by the metadata as a parameter of the model: it gets that name
//      (parameter_names.h);
//   1. running mean and variance of BatchNormalization: a buffer;
//   2. named in the signature that the dynamo exporter leaves in the graph's metadata
//      ("conv.bias: PARAMETER target='conv.bias'"): what the signature says;
//   3. integers and booleans: a buffer when its name is a module path, when they only select rows
//      of a matrix of the file (positions), or when their use or width tells quantized numbers;
//      otherwise a constant; small ones keep their data, for shape arithmetic;
//   4. a scalar, an empty tensor, or what an operator reads as numbers (the scales of a resize):
//      a constant;
//   5. an operand that an operator takes as its weight (kernel, matrix, scale, table), also by
//      Gather, Slice or Transpose: a parameter, though folding renamed it ("val_12",
//      "onnx::MatMul_87"), but not where every parameter of the signature has its name;
//   6. without a signature, every other name not made up by an exporter: a parameter (one-element
//      tensors only under a module path, "head.bias");
//   7. the rest is a constant: folded masks, tables and scales.
// Weights' bytes are skipped, inline or not; external files are never opened.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/graph/graph.h"
#include "trace/onnx/reading.h"

namespace symprof::trace {

constexpr GraphTraits onnx_traits{
    .operators_are_aten = false,
    .may_lack_layers = true,
    .export_call = "torch.onnx.export(model, args, path, dynamo=True, ",
};

/// The oldest operator set of the default domain that is read.
constexpr std::int64_t oldest_opset = 1;

/// Loads a model of any opset. Node::op is "onnx::Conv" for the default domain and
/// "<domain>::Op" elsewhere; Graph::opsets calls the default domain "ai.onnx". Inputs of a node are
/// arguments without a name, attributes arguments with theirs. Local functions are inlined, each
/// call a Scope whose type is the function; other scopes come from the exporter's metadata or from
/// node names ("/encoder/layers.0/mlp/MatMul").
/// A subgraph attribute (If, Loop, Scan) is a Graph whose inputs are its own and then what it
/// captures; the captured values stand in the same order in an argument "<attribute>.captures".
/// Sequences of tensors that are made and taken apart in the graph become lists of values.
/// Throws Error: missing file, not a model, truncated, an old opset, a cycle, a value that nothing
/// or two things define, a recursive function, an attribute or type that a Graph cannot hold.
Graph load_onnx(const std::string& path);

/// Reads a model as `load_onnx` does, from bytes in memory; `path` is only for messages.
Graph read_onnx(std::string_view bytes, const std::string& path,
                Reading reading = Reading::as_exported);

/// Reads a model in ONNX's text syntax (onnx/docs/Syntax.md), as tests and golden files have it;
/// `path` is only for messages.
Graph parse_onnx_text(const std::string& text, const std::string& path);

}  // namespace symprof::trace
