// The ONNX graph that an engine was built from, as far as its layers are found in it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::engine {

struct ModelNode {
  std::string name, op;  ///< "Conv" of ONNX's own domain, "com.acme::Fused" of another.
  std::string module;    ///< The path of the module that it is part of; empty for the root.
  std::vector<ValueId> inputs, outputs;  ///< Inputs that are tensors, constants included.
};

/// Nodes are in their file's order, which is one in which they can run. Constants are values.
struct Model {
  std::string path;
  std::vector<ModelNode> nodes;
  std::vector<int> producers;               ///< By value: the node that makes it, or -1.
  std::vector<std::vector<int>> consumers;  ///< By value.
  std::vector<bool> constants;  ///< By value: weights, and what follows from them alone.
  std::vector<bool> outputs;    ///< By value: whether the graph gives it back.
  std::unordered_map<std::string, ValueId> values;     ///< By name.
  std::unordered_map<std::string, int> nodes_by_name;  ///< As in the file, and as Myelin spells it.
};

Model model_of(const Graph& graph);

/// Opens an ONNX file; its weights are not read. Throws Error as trace::load_onnx.
Model read_model(const std::string& path);

bool is_one_of(const ModelNode& node, std::initializer_list<std::string_view> ops);

/// Whether the node has inputs, and all of them are constants: the builder computes it once.
bool is_constant(const Model& model, const ModelNode& node);

/// Whether the node gives its input another shape, and moves nothing where layouts agree.
bool is_view(const ModelNode& node);
bool is_quantizer(const ModelNode& node);    ///< QuantizeLinear.
bool is_dequantizer(const ModelNode& node);  ///< DequantizeLinear.

}  // namespace symprof::engine
