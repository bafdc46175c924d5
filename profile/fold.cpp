#include "profile/fold.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "profile/figure_sums.h"
#include "profile/folded_figures.h"
#include "record/module_path.h"

namespace symprof::profile {
namespace {

std::string_view kind_of(const NodeRecord& node) {
  switch (node.kind) {
    case NodeKind::input:
      return "placeholder";
    case NodeKind::operation:
      return "call_function";
    case NodeKind::output:
      return "output";
    case NodeKind::loss:
      return "loss";
    case NodeKind::optimizer:
      return "optimizer";
  }
  return "";
}

/// True for modules that torch.fx does not trace into. Containers have no forward (ModuleList) or
/// only forward to their children (Sequential).
bool is_leaf(std::string_view type) {
  if (!type.starts_with("torch.nn.") && !type.starts_with("torch.ao.nn.")) return false;
  return !type.ends_with(".Sequential") && !type.ends_with(".ModuleList") &&
         !type.ends_with(".ModuleDict");
}

/// Index of the outermost leaf module around `node`; none at none.
std::int32_t leaf_module(const Recording& recording, const NodeRecord& node) {
  for (std::int32_t scope : node.scopes)
    if (is_leaf(recording.modules[scope].type)) return scope;
  return none;
}

/// A module's path as torch.fx names its node.
std::string identifier(std::string path) {
  std::replace(path.begin(), path.end(), '.', '_');
  return path;
}

/// Makes rows and puts nodes into them.
class Folder {
 public:
  explicit Folder(const Profile& profile) : recording_(profile.recording) {}

  /// Gives `node` its own row.
  void alone(NodeId node) {
    const NodeRecord& record = recording_.nodes[node];
    rows_.push_back({std::string(kind_of(record)), record.name, record.module, {}, {node}});
    leaf_ = none;
  }

  /// Puts `node` into the row of `key`; `when_first` is that row while there is none.
  void keyed(NodeId node, std::string_view key, FoldedRow&& when_first) {
    const auto [place, is_new] = by_key_.emplace(key, rows_.size());
    if (is_new) rows_.push_back(std::move(when_first));
    rows_[place->second].nodes.push_back(node);
  }

  /// Puts `node` into the last row where that is the same leaf module, else into a new one.
  void in_leaf(NodeId node, std::int32_t leaf) {
    const ModuleRecord& module = recording_.modules[leaf];
    if (leaf_ != leaf) rows_.push_back({"call_module", identifier(module.path), module.path});
    leaf_ = leaf;
    rows_.back().nodes.push_back(node);
  }

  std::vector<FoldedRow> take() { return std::move(rows_); }

 private:
  const Recording& recording_;
  std::vector<FoldedRow> rows_;
  std::unordered_map<std::string_view, std::size_t> by_key_;
  std::int32_t leaf_ = none;  ///< The leaf module of the last row.
};

void place(Folder& folder, const Recording& recording, NodeId id, const FoldOptions& options) {
  const NodeRecord& node = recording.nodes[id];
  if (options.by == FoldBy::node || node.kind != NodeKind::operation) return folder.alone(id);
  if (options.by == FoldBy::op) return folder.keyed(id, node.op, {"call_function", node.op});
  if (!options.depth) {
    const std::int32_t leaf = leaf_module(recording, node);
    return leaf == none ? folder.alone(id) : folder.in_leaf(id, leaf);
  }
  if (node.module.empty()) return folder.alone(id);
  const std::string_view path = path_prefix(node.module, *options.depth);
  const std::string text(path);
  folder.keyed(id, path, {"call_module", text, text});
}

}  // namespace

std::vector<FoldedRow> fold(const Profile& profile, const FoldOptions& options) {
  const Recording& recording = profile.recording;
  Folder folder(profile);
  for (std::size_t i = 0; i < recording.nodes.size(); ++i)
    place(folder, recording, static_cast<NodeId>(i), options);
  std::vector<FoldedRow> rows = folder.take();
  fill_figures(profile, rows);
  RowFigures sums;
  for (FoldedRow& row : rows) run_on(sums, row.figures);
  return rows;
}

}  // namespace symprof::profile
