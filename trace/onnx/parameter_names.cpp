#include "trace/onnx/parameter_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/onnx/folded_norms.h"

namespace symprof::trace {
namespace {

/// Calls with a bias that the exporter's optimizer drops if zero
/// (onnxscript/rewriter/rules/common/_remove_optional_bias.py).
struct BiasRow {
  std::string_view call;
  std::size_t position;
};

constexpr std::array bias_rows = {
    BiasRow{"linear", 2},           BiasRow{"addmm", 0},
    BiasRow{"conv1d", 2},           BiasRow{"conv2d", 2},
    BiasRow{"conv3d", 2},           BiasRow{"convolution", 2},
    BiasRow{"conv_transpose1d", 2}, BiasRow{"conv_transpose2d", 2},
    BiasRow{"conv_transpose3d", 2},
};

TensorSpec contiguous(DType dtype, std::vector<std::int64_t> sizes) {
  TensorSpec spec{.dtype = dtype, .sizes = std::move(sizes)};
  spec.strides = contiguous_strides(spec.sizes);
  return spec;
}

/// An initializer in a node's arguments.
struct Read {
  std::size_t node, argument;
  ValueId id;
};

class ParameterNamer {
 public:
  ParameterNamer(Graph& graph, const std::vector<std::string>& calls, const ExportedCalls& exported,
                 const Signature& signature, std::vector<ValueId>& initializers)
      : graph_(graph),
        calls_(calls),
        exported_(exported),
        signature_(signature),
        initializers_(initializers),
        is_initializer_(initializers.begin(), initializers.end()) {
    for (const ValueId id : initializers) by_name_[graph.value(id).name] = id;
  }

  NamedParameters run() {
    std::unordered_map<std::string, std::vector<std::size_t>> groups;
    std::vector<std::string> order;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!exported_.contains(calls_[i]) || is_folded_norm(graph_.nodes[i], calls_[i])) continue;
      auto& group = groups[calls_[i]];
      if (group.empty()) order.push_back(calls_[i]);
      group.push_back(i);
    }
    for (const std::string& call : order) match(call, groups[call]);
    std::erase_if(found_.lost, [&](const std::string& path) { return by_name_.contains(path); });
    return std::move(found_);
  }

 private:
  bool has_own_name(ValueId id) const { return signature_.kinds.contains(graph_.value(id).name); }

  /// Floating-point initializers, and others with a model name. Unnamed numbers are call arguments
  /// ("2" in pow).
  std::vector<Read> reads_of(const std::vector<std::size_t>& group) const {
    std::vector<Read> reads;
    for (const std::size_t node : group) {
      const auto& arguments = graph_.nodes[node].arguments;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ValueId id = value_of(&arguments[i]);
        if (id == no_value || !is_initializer_.contains(id)) continue;
        const TensorSpec& spec = *graph_.value(id).spec;
        if (has_own_name(id) || (is_floating_point(spec.dtype) && !spec.sizes.empty()))
          reads.push_back({node, i, id});
      }
    }
    return reads;
  }

  std::vector<std::string> mentions_of(const ExportedCall& call) const {
    std::vector<std::string> paths;
    for (const std::string& name : mentioned_names(call))
      if (const auto path = signature_.targets.find(name); path != signature_.targets.end())
        paths.push_back(path->second);
    return paths;
  }

  /// A call's arguments and its nodes' initializers have the same order, once a dropped bias is
  /// restored.
  void match(const std::string& name, const std::vector<std::size_t>& group) {
    const ExportedCall& call = exported_.at(name);
    std::vector<std::string> mentions = mentions_of(call);
    for (const std::size_t node : group) restore_bias(name, call, graph_.nodes[node]);
    if (mentions.empty()) return;
    std::vector<Read> reads = reads_of(group);
    std::erase_if(reads, [&](const Read& read) {
      const auto own = std::ranges::find(mentions, graph_.value(read.id).name);
      if (own == mentions.end()) return false;
      mentions.erase(own);
      return true;
    });
    const auto is_foreign = [&](const Read& read) { return has_own_name(read.id); };
    if (reads.size() != mentions.size() &&
        std::ranges::count_if(reads, is_foreign) == std::ssize(mentions))
      std::erase_if(reads, [&](const Read& read) { return !is_foreign(read); });
    if (reads.size() == mentions.size())
      for (std::size_t i = 0; i < reads.size(); ++i) stand_for(mentions[i], reads[i]);
    else
      std::ranges::copy_if(mentions, std::back_inserter(found_.lost), [&](const std::string& path) {
        return signature_.kinds.at(path) == ValueKind::parameter;
      });
  }

  void stand_for(const std::string& path, const Read& read) {
    const bool is_new = !by_name_.contains(path);
    const bool is_foreign = has_own_name(read.id);
    if (is_new && !is_foreign) {
      graph_.value(read.id).name = path;
      by_name_[path] = read.id;
    } else if (is_foreign) {
      if (is_new) add(path, *graph_.value(read.id).spec);
      if (is_new) found_.merged.push_back(path);
      const ValueId own = by_name_[path];
      if (graph_.value(own).spec->sizes == graph_.value(read.id).spec->sizes)
        graph_.nodes[read.node].arguments[read.argument].value = ValueRef{own};
    } else {
      found_.copies[read.id] = by_name_[path];
    }
  }

  ValueId add(const std::string& path, TensorSpec spec) {
    const ValueId id =
        graph_.add_value({.name = path, .kind = ValueKind::constant, .spec = std::move(spec)});
    initializers_.push_back(id);
    is_initializer_.insert(id);
    return by_name_[path] = id;
  }

  void restore_bias(const std::string& name, const ExportedCall& call, Node& node) {
    const auto row = std::ranges::find_if(
        bias_rows, [&](const BiasRow& known) { return is_call_of(name, known.call); });
    if (row == bias_rows.end() || value_of(find_argument(node, "", 2)) != no_value) return;
    const std::string_view given = call_argument(call, row->position, "bias");
    const auto channels = product_channels(graph_, node);
    if (!given.starts_with('%') || !channels) return;
    const auto target = signature_.targets.find(std::string(given.substr(1)));
    if (target == signature_.targets.end()) return;
    const auto known = by_name_.find(target->second);
    set_input(node, 2,
              ValueRef{known != by_name_.end()
                           ? known->second
                           : add(target->second, contiguous(weight_dtype(node), {*channels}))});
  }

  DType weight_dtype(const Node& node) const { return graph_.value(operand(node, 1)).spec->dtype; }

  Graph& graph_;
  const std::vector<std::string>& calls_;
  const ExportedCalls& exported_;
  const Signature& signature_;
  std::vector<ValueId>& initializers_;
  std::unordered_set<ValueId> is_initializer_;
  std::unordered_map<std::string, ValueId> by_name_;
  NamedParameters found_;
};

}  // namespace

NamedParameters name_parameters(Graph& graph, const std::vector<std::string>& calls,
                                const ExportedCalls& exported, const Signature& signature,
                                std::vector<ValueId>& initializers) {
  if (signature.kinds.empty() || initializers.empty()) return {};
  return ParameterNamer(graph, calls, exported, signature, initializers).run();
}

std::vector<std::string> missing_parameters(const Graph& graph, const Signature& signature,
                                            const std::vector<ValueId>& initializers) {
  std::unordered_set<std::string> known;
  for (const ValueId id : initializers) known.insert(graph.value(id).name);
  for (const FoldedNorm& norm : graph.export_record.folded_norms)
    for (const std::string& name : {norm.weight, norm.bias, norm.product_bias}) known.insert(name);
  std::vector<std::string> missing;
  for (const std::string& path : signature.parameters)
    if (!known.contains(path)) missing.push_back(path);
  return missing;
}

}  // namespace symprof::trace
