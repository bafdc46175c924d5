#include "plan/parallel/tensor_split.h"

#include <algorithm>
#include <map>
#include <set>

namespace symprof::plan {
namespace {

/// The longest module path that contains both.
std::string common_module(const std::string& a, const std::string& b) {
  std::string common;
  for (std::size_t i = 0; i <= std::min(a.size(), b.size()); ++i) {
    const bool ends_a = i == a.size() || a[i] == '.', ends_b = i == b.size() || b[i] == '.';
    if (ends_a && ends_b) common = a.substr(0, i);
    if (i < a.size() && i < b.size() && a[i] != b[i]) break;
  }
  return common;
}

bool is_in_a_block(const NodeRecord& node, const std::vector<std::string>& blocks) {
  return std::ranges::any_of(
      blocks, [&](const std::string& block) { return is_in_module(node.module, block); });
}

/// The column layers that produced a sharded tensor.
using Origins = std::set<NodeId>;

/// One attempt with the layers not yet ruled out. DTensor's own rules are by operator; here an
/// operator belongs to one of five families, and any other that mixes sharded with replicated
/// tensors is rejected.
class Attempt {
 public:
  Attempt(const Recording& recording, const std::vector<std::string>& blocks,
          const std::set<NodeId>& refused)
      : recording_(recording), blocks_(blocks), refused_(refused) {
    split_.nodes.assign(recording.nodes.size(), NodeSplit::whole);
  }

  void run() {
    for (std::size_t i = 0; i < recording_.nodes.size(); ++i) visit(static_cast<NodeId>(i));
    for (const auto& [column, is_used] : columns_)
      if (!is_used) newly_refused_.insert(column);
  }

  const std::set<NodeId>& newly_refused() const { return newly_refused_; }

  TensorSplit take() {
    name_modules(recording_, blocks_, split_);
    std::ranges::sort(split_.counts);
    split_.counts.erase(std::unique(split_.counts.begin(), split_.counts.end()),
                        split_.counts.end());
    return std::move(split_);
  }

 private:
  const TensorSpec* spec(const TensorRecord& tensor) const {
    return tensor.spec == none ? nullptr : &recording_.specs[static_cast<std::size_t>(tensor.spec)];
  }

  bool is_parameter(const TensorRecord& tensor) const {
    return tensor.storage != none &&
           recording_.storages[static_cast<std::size_t>(tensor.storage)].kind ==
               StorageKind::parameter;
  }

  /// Its weight, if the node is a linear layer of a block.
  const TensorSpec* weight_of(const NodeRecord& node) const {
    if (!node.module_type.ends_with("Linear") || !node.op.ends_with("::linear")) return nullptr;
    for (const TensorRecord& input : node.inputs)
      if (const TensorSpec* found = spec(input))
        if (is_parameter(input) && found->sizes.size() == 2) return found;
    return nullptr;
  }

  bool is_in_block(const NodeRecord& node) const { return is_in_a_block(node, blocks_); }

  Origins origins_of(const NodeRecord& node) const {
    Origins found;
    for (const TensorRecord& input : node.inputs)
      if (const auto shared = shares_.find(input.storage); shared != shares_.end())
        found.insert(shared->second.begin(), shared->second.end());
    return found;
  }

  void set_outputs(const NodeRecord& node, const Origins& origins) {
    for (const TensorRecord& output : node.outputs)
      if (output.storage != none) shares_[output.storage] = origins;
  }

  void set_whole(const NodeRecord& node) {
    for (const TensorRecord& output : node.outputs) shares_.erase(output.storage);
  }

  void visit(NodeId id) {
    const NodeRecord& node = recording_.nodes[static_cast<std::size_t>(id)];
    const Origins origins = origins_of(node);
    const TensorSpec* weight = weight_of(node);
    if (origins.empty()) {
      if (weight != nullptr && is_in_block(node) && !refused_.contains(id))
        add_column(id, node, *weight);
      else
        set_whole(node);
      return;
    }
    if (weight != nullptr && is_in_block(node)) return add_row(id, node, *weight, origins);
    if (!is_in_block(node) || !keeps_shares(node)) return refuse(node, origins);
    split_.nodes[static_cast<std::size_t>(id)] = NodeSplit::inside;
    set_outputs(node, origins);
  }

  void refuse(const NodeRecord& node, const Origins& origins) {
    newly_refused_.insert(origins.begin(), origins.end());
    set_whole(node);
  }

  void add_column(NodeId id, const NodeRecord& node, const TensorSpec& weight) {
    split_.nodes[static_cast<std::size_t>(id)] = NodeSplit::column;
    split_.linears.push_back({node.module, NodeSplit::column, id});
    split_.counts.push_back(weight.sizes[0]);
    columns_[id] = false;
    set_outputs(node, {id});
  }

  void add_row(NodeId id, const NodeRecord& node, const TensorSpec& weight,
               const Origins& origins) {
    split_.nodes[static_cast<std::size_t>(id)] = NodeSplit::row;
    split_.linears.push_back({node.module, NodeSplit::row, id});
    split_.counts.push_back(weight.sizes[1]);
    for (const NodeId column : origins) columns_[column] = true;
    set_whole(node);
  }

  /// True if the node's output is sharded like its input: by heads in a tensor with four or more
  /// dimensions, by features in one with fewer.
  bool keeps_shares(const NodeRecord& node) {
    if (node.op.find("scaled_dot_product") != std::string::npos) return true;
    std::size_t dimensions = 0;
    std::int64_t share_numbers = 0, whole_numbers = 0;
    bool has_parameter = false;
    for (const TensorRecord& input : node.inputs) {
      const TensorSpec* found = spec(input);
      if (found == nullptr) continue;
      has_parameter |= is_parameter(input);
      if (!shares_.contains(input.storage)) {
        whole_numbers = std::max(whole_numbers, found->numel());
        continue;
      }
      dimensions = std::max(dimensions, found->sizes.size());
      share_numbers = std::max(share_numbers, found->numel());
    }
    if (whole_numbers >= share_numbers) return false;  // For example a residual sum.
    if (dimensions >= 4) return true;
    if (has_parameter || works_along_features(node)) return false;
    note_heads(node);
    return true;
  }

  /// True if the operator reduces over the features or splits them.
  static bool works_along_features(const NodeRecord& node) {
    constexpr std::string_view words[] = {"norm",  "mean",  "sum",    "softmax", "var",
                                          "split", "chunk", "unbind", "slice",   "select"};
    return std::ranges::any_of(
        words, [&](std::string_view word) { return node.op.find(word) != std::string::npos; });
  }

  /// A view that splits the features: its outermost new dimension must be divisible.
  void note_heads(const NodeRecord& node) {
    if (node.inputs.empty() || node.outputs.empty()) return;
    const TensorSpec *from = spec(node.inputs[0]), *to = spec(node.outputs[0]);
    if (from == nullptr || to == nullptr || to->sizes.size() <= from->sizes.size()) return;
    const std::size_t place = from->sizes.size() - 1;
    if (to->sizes[place] > 0) split_.counts.push_back(to->sizes[place]);
  }

  const Recording& recording_;
  const std::vector<std::string>& blocks_;
  const std::set<NodeId>& refused_;
  TensorSplit split_;
  std::map<StorageId, Origins> shares_;
  std::map<NodeId, bool> columns_;  // True if a row layer reads its output.
  std::set<NodeId> newly_refused_;
};

}  // namespace

bool is_in_module(const std::string& path, const std::string& module) {
  return path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.');
}

void name_modules(const Recording& recording, const std::vector<std::string>& blocks,
                  TensorSplit& split) {
  std::map<StorageId, std::string> of_input;
  std::set<std::string> linears;
  for (const SplitLinear& linear : split.linears) {
    linears.insert(linear.module);
    if (linear.style != NodeSplit::column) continue;
    const NodeRecord& node = recording.nodes[static_cast<std::size_t>(linear.node)];
    const std::size_t dot = linear.module.rfind('.');
    const auto [known, is_new] =
        of_input.emplace(node.inputs[0].storage, linear.module.substr(0, dot));
    if (!is_new) known->second = common_module(known->second, linear.module);
  }
  for (const auto& [input, module] : of_input)
    if (std::ranges::find(split.gathering_modules, module) == split.gathering_modules.end())
      split.gathering_modules.push_back(module);
  std::set<std::string> named;
  for (const NodeRecord& node : recording.nodes)
    if (!node.parameters.empty() && is_in_a_block(node, blocks) && !linears.contains(node.module) &&
        named.insert(node.module).second)
      split.token_modules.push_back(node.module);
}

bool TensorSplit::allows(std::int64_t ranks) const {
  if (ranks == 1) return true;
  return !linears.empty() &&
         std::ranges::all_of(counts, [&](std::int64_t count) { return count % ranks == 0; });
}

TensorSplit find_tensor_split(const Recording& recording, const std::vector<std::string>& blocks) {
  std::set<NodeId> refused;
  while (true) {
    Attempt attempt(recording, blocks, refused);
    attempt.run();
    if (attempt.newly_refused().empty()) return attempt.take();
    refused.insert(attempt.newly_refused().begin(), attempt.newly_refused().end());
  }
}

}  // namespace symprof::plan
