// The ONNX graph that an engine was built from, for mapping its layers.
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
  std::string module;    ///< Path of its module; empty for the root.
  std::vector<ValueId> inputs, outputs;  ///< Inputs that are tensors, constants included.
};

/// Nodes in file order, which is a valid execution order. Constants are values.
struct Model {
  std::string path;
  std::vector<ModelNode> nodes;
  std::vector<int> producers;               ///< By value: its producer, or -1.
  std::vector<std::vector<int>> consumers;  ///< By value.
  std::vector<bool> constants;  ///< By value: weights, and values computed only from them.
  std::vector<bool> outputs;    ///< By value: true for graph outputs.
  std::unordered_map<std::string, ValueId> values;     ///< By name.
  std::unordered_map<std::string, int> nodes_by_name;  ///< Original and Myelin spelling.
};

Model model_of(const Graph& graph);

/// Opens an ONNX file; its weights are not read. Throws Error as trace::load_onnx.
Model read_model(const std::string& path);

bool is_one_of(const ModelNode& node, std::initializer_list<std::string_view> ops);

/// True if the node has inputs, all constant: the builder folds it.
bool is_constant(const Model& model, const ModelNode& node);

/// True if the node only reshapes its input, without a copy if layouts agree.
bool is_view(const ModelNode& node);
bool is_quantizer(const ModelNode& node);    ///< QuantizeLinear.
bool is_dequantizer(const ModelNode& node);  ///< DequantizeLinear.

}  // namespace symprof::engine
