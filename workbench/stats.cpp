#include "workbench/stats.h"

#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "workbench/blocks.h"
#include "workbench/inline.h"
#include "workbench/nodes.h"
#include "workbench/types.h"

namespace symprof::workbench {
namespace {

using Counts = std::map<std::string, std::int64_t>;

NodeCounts count_nodes(const onnx::ModelProto& model) {
  NodeCounts counts;
  counts.main = model.graph().node_size();
  for_all_nodes(model.graph().node(), [&](const onnx::NodeProto& node) {
    ++counts.with_subgraphs;
    if (node.op_type() != "Constant" || !node.domain().empty()) ++counts.no_constant;
  });
  for (const onnx::FunctionProto& function : model.functions())
    for_all_nodes(function.node(), [&](const onnx::NodeProto&) { ++counts.in_functions; });
  return counts;
}

template <class Nodes>
Counts count_ops(const Nodes& nodes) {
  Counts counts;
  for_all_nodes(nodes, [&](const onnx::NodeProto& node) { ++counts[qualified_op(node)]; });
  return counts;
}

ValueStats value_stats(const onnx::ValueInfoProto& value) {
  ValueStats stats{value.name(), value.type().tensor_type().elem_type(), {}};
  for (const auto& dimension : value.type().tensor_type().shape().dim())
    stats.dimensions.push_back(dimension.dim_param().empty()
                                   ? fmt::format("{}", dimension.dim_value())
                                   : dimension.dim_param());
  return stats;
}

void count_functions(ModelStats& stats, const onnx::ModelProto& model) {
  Counts calls;
  const auto note = [&](const onnx::NodeProto& node) {
    ++calls[node.domain() + "." + node.op_type()];
  };
  for_all_nodes(model.graph().node(), note);
  for (const onnx::FunctionProto& function : model.functions())
    for_all_nodes(function.node(), note);
  for (const onnx::FunctionProto& function : model.functions())
    stats.functions.push_back({function.name(), function.domain(), function.node_size(),
                               function.input_size(), function.output_size(),
                               calls[function.domain() + "." + function.name()],
                               count_ops(function.node())});
}

void count_initializers(ModelStats& stats, const onnx::ModelProto& model) {
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    ++stats.initializers;
    stats.initializer_elements += element_count(tensor);
    stats.initializer_bytes += tensor_bytes(tensor);
    ++stats.initializers_by_type[fmt::format("{}", tensor.data_type())];
    ++stats.initializers_by_shape[fmt::format("{}[{}]", tensor.data_type(),
                                              fmt::join(tensor.dims(), "x"))];
  }
}

/// Initializers by the module of the first node that reads them; a transposed weight belongs to the
/// module of its Transpose, whose metadata names it too.
void count_modules(ModelStats& stats, const onnx::GraphProto& graph) {
  std::unordered_map<std::string, const onnx::TensorProto*> left;
  for (const onnx::TensorProto& tensor : graph.initializer()) left.emplace(tensor.name(), &tensor);
  std::unordered_map<std::string, std::size_t> known;
  const auto count = [&](const onnx::TensorProto& tensor, const std::string& module) {
    const auto [found, added] = known.try_emplace(module, stats.modules.size());
    if (added) stats.modules.push_back({module});
    ModuleStats& row = stats.modules[found->second];
    ++row.initializers;
    row.elements += element_count(tensor);
    row.bytes += tensor_bytes(tensor);
  };
  for_all_nodes(graph.node(), [&](const onnx::NodeProto& node) {
    for (const std::string& input : node.input())
      if (const auto found = left.find(input); found != left.end()) {
        count(*found->second, module_path(node));
        left.erase(found);
      }
  });
  for (const onnx::TensorProto& tensor : graph.initializer())
    if (left.contains(tensor.name())) count(tensor, "");
}

void count_types(ModelStats& stats, const onnx::GraphProto& graph) {
  auto types = value_types(graph);
  const auto type_of = [&](const std::string& name) {
    const auto found = types.find(name);
    return found == types.end() ? std::string("?") : found->second;
  };
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Constant" && node.domain().empty()) continue;
    for (const std::string& output : node.output())
      if (!output.empty()) ++stats.results_by_type[type_of(output)];
    std::vector<std::string> reads;
    reads.reserve(static_cast<std::size_t>(node.input_size()));
    for (const std::string& input : node.input())
      reads.push_back(input.empty() ? "_" : type_of(input));
    ++stats.node_signatures[fmt::format("{}({})", qualified_op(node), fmt::join(reads, ", "))];
  }
}

std::string place(const onnx::NodeProto& node) {
  const std::string module = module_path(node);
  return module.empty() ? node.name() : module;
}

/// The innermost module that contains all nodes of [begin, end); without one, the first node's
/// module.
std::string common_module(const std::vector<const onnx::NodeProto*>& nodes, int begin, int end) {
  std::string common = module_path(*nodes[static_cast<std::size_t>(begin)]);
  for (int i = begin; i < end && !common.empty(); ++i) {
    const std::string other = module_path(*nodes[static_cast<std::size_t>(i)]);
    while (!common.empty() && other != common && !other.starts_with(common + "."))
      common.resize(common.find('.') == common.npos ? 0 : common.rfind('.'));
  }
  return common.empty() ? place(*nodes[static_cast<std::size_t>(begin)]) : common;
}

void count_blocks(ModelStats& stats, const std::vector<const onnx::NodeProto*>& nodes,
                  const std::vector<RepeatedBlock>& blocks) {
  for (const RepeatedBlock& block : blocks) {
    Counts ops;
    for (int i = block.first; i < block.first + block.length; ++i)
      ++ops[qualified_op(*nodes[static_cast<std::size_t>(i)])];
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [op, count] : ops) sorted.emplace_back(-count, op);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string> words;
    words.reserve(sorted.size());
    for (const auto& [count, op] : sorted)
      words.push_back(count == -1 ? op : fmt::format("{} {}", -count, op));
    const int last = block.first + block.length * (block.times - 1);
    stats.blocks.push_back({block.length, block.times,
                            common_module(nodes, block.first, block.first + block.length),
                            common_module(nodes, last, last + block.length),
                            fmt::format("{}", fmt::join(words, ", "))});
    count_blocks(stats, nodes, block.inside);
  }
}

}  // namespace

ModelStats stats_of(const onnx::ModelProto& model, const std::string& path) {
  onnx::ModelProto copy = model;
  return take_stats(copy, path);
}

ModelStats take_stats(onnx::ModelProto& model, const std::string& path) {
  ModelStats stats;
  stats.ir_version = model.ir_version();
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    stats.opsets[opset.domain()] = opset.version();
  stats.nodes = count_nodes(model);
  stats.ops = count_ops(model.graph().node());
  count_functions(stats, model);
  for (const onnx::ValueInfoProto& input : model.graph().input())
    stats.inputs.push_back(value_stats(input));
  for (const onnx::ValueInfoProto& output : model.graph().output())
    stats.outputs.push_back(value_stats(output));
  count_initializers(stats, model);
  inline_functions(model, "inline", path);
  stats.inlined = count_nodes(model);
  stats.ops_inlined = count_ops(model.graph().node());
  count_modules(stats, model.graph());
  infer_types(model);
  count_types(stats, model.graph());
  const auto nodes = nodes_in_order(model.graph());
  count_blocks(stats, nodes, repeated_blocks(nodes));
  return stats;
}

}  // namespace symprof::workbench
