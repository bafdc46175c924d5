// Counts of a model's contents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workbench/model.h"
#include "workbench/tensor_stats.h"

namespace symprof::workbench {

struct NodeCounts {
  std::int64_t main = 0;            ///< Of the main graph.
  std::int64_t with_subgraphs = 0;  ///< And of its subgraphs.
  std::int64_t in_functions = 0;    ///< In bodies of functions, each once.
  std::int64_t no_constant = 0;     ///< with_subgraphs without Constant.
};

struct FunctionStats {
  std::string name, domain;
  std::int64_t nodes = 0, inputs = 0, outputs = 0;
  std::int64_t calls = 0;  ///< In the main graph and in bodies, each body once.
  std::map<std::string, std::int64_t> ops;
};

struct ValueStats {
  std::string name;
  std::int32_t type = 0;  ///< onnx::TensorProto::DataType; 0 for values other than tensors.
  std::vector<std::string> dimensions;  ///< Sizes and names; "0" if unknown.
};

struct ModuleStats {
  std::string path;  ///< Empty: initializers that nodes of no module read.
  std::int64_t initializers = 0, elements = 0, bytes = 0;
};

struct ModelStats {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;
  NodeCounts nodes, inlined;
  std::map<std::string, std::int64_t> ops, ops_inlined;  ///< "com.microsoft.Gelu"; with subgraphs.
  std::vector<FunctionStats> functions;
  std::vector<ValueStats> inputs, outputs;
  std::int64_t initializers = 0, initializer_elements = 0, initializer_bytes = 0;
  std::map<std::string, std::int64_t> initializers_by_type;   ///< By the number of the type.
  std::map<std::string, std::int64_t> initializers_by_shape;  ///< "1[16x16]".
  /// Results of nodes of the main graph, functions inlined, by type: "float32[2,8,16]".
  std::map<std::string, std::int64_t> results_by_type;
  /// Counts of nodes by operator and input types: "MatMul(float32[2,8,16], float32[16,16])".
  std::map<std::string, std::int64_t> node_signatures;
  std::vector<ModuleStats> modules;  ///< By the first module that reads an initializer, in order.
  struct Block {
    std::int64_t nodes = 0, times = 0;
    std::string first, last;  ///< Modules, or nodes, of the first and the last copy.
    std::string ops;          ///< Its operators, most frequent first.
  };
  std::vector<Block> blocks;
  /// How often symprof optimize would apply each rule; stats_of() leaves it empty.
  std::map<std::string, std::int64_t> patterns;
  /// Numbers of tensors; stats_of() leaves it empty: they need the weights.
  std::optional<std::vector<TensorStats>> tensors;
};

/// Counts. Throws Error for functions that cannot be inlined.
ModelStats stats_of(const onnx::ModelProto& model, const std::string& path);
/// The same, and leaves `model` with functions inlined and types inferred.
ModelStats take_stats(onnx::ModelProto& model, const std::string& path);

}  // namespace symprof::workbench
