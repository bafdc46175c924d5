// Decides what an initializer is: parameter, buffer or constant (the rules are in reader.h).
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace onnx {
class ModelProto;
}

namespace symprof::trace {

/// Elements up to which an integer tensor keeps its data (positions, axes, shapes) …
constexpr std::int64_t largest_integer_constant = 4096;
/// … and a floating-point one (scales, bounds, sizes of a resize).
constexpr std::int64_t largest_real_constant = 16;

/// What the dynamo exporter's signature says of each name; empty when the file has none.
using Signature = std::unordered_map<std::string, ValueKind>;

/// Reads the signature in the metadata of the model's graph.
Signature find_signature(const onnx::ModelProto& model);

/// Sets the kind of the values `initializers` of `graph`, whose nodes are complete, and drops the
/// data of those that no shape arithmetic needs.
void classify_initializers(Graph& graph, const std::vector<ValueId>& initializers,
                           const Signature& signature);

}  // namespace symprof::trace
