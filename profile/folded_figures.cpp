#include "profile/folded_figures.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/checked.h"
#include "profile/figure_sums.h"

namespace symprof::profile {
namespace {

/// Index of the row of each node.
std::vector<std::size_t> rows_of_nodes(const Recording& recording,
                                       const std::vector<FoldedRow>& rows) {
  std::vector<std::size_t> row_of(recording.nodes.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (NodeId node : rows[row].nodes) row_of[node] = row;
  return row_of;
}

/// By storage: true if consumed outside its producer's row.
std::vector<bool> leaving(const Recording& recording, const std::vector<std::size_t>& row_of) {
  std::vector<bool> leaves(recording.storages.size());
  for (std::size_t node = 0; node < recording.nodes.size(); ++node) {
    for (const TensorRecord& input : recording.nodes[node].inputs) {
      if (input.storage == none) continue;
      const NodeId maker = recording.storages[input.storage].node;
      if (maker != none && row_of[maker] != row_of[node]) leaves[input.storage] = true;
    }
  }
  return leaves;
}

/// The tensors known inside one row: recounts the figures of the row.
class RowBorder {
 public:
  /// `leaves`: by storage, true if consumed by another row.
  RowBorder(const Recording& recording, const std::vector<bool>& leaves, FoldedRow& row)
      : recording_(recording),
        leaves_(leaves),
        row_(row),
        nodes_(row.nodes.begin(), row.nodes.end()) {}

  void add(NodeId id) {
    const NodeRecord& node = recording_.nodes[id];
    add_gradients(node);
    for (const TensorRecord& output : node.outputs) add_output(output);
    for (StorageId parameter : node.parameters)
      if (parameters_.insert(parameter).second)
        add_to(row_.figures.param_bytes, recording_.storages[parameter].bytes);
  }

 private:
  void add_output(const TensorRecord& output) {
    if (output.spec == none || output.storage == none) return;
    known_.emplace(output.storage, output.spec);
    const StorageRecord& storage = recording_.storages[output.storage];
    if (!nodes_.contains(storage.node) || !storage.on_device) return;
    if (storage.kind != StorageKind::activation || !leaves_[output.storage]) return;
    if (!outputs_.insert(output.storage).second) return;
    add_to(storage.saved ? row_.figures.output_bytes : row_.figures.temp_bytes, storage.bytes);
  }

  /// Adds the node's gradients minus those of tensors that the row produced or already took. The
  /// recording has one sum per node; the part of an input follows from its size.
  void add_gradients(const NodeRecord& node) {
    std::int64_t inside = 0;
    std::vector<TensorRecord> taken;
    for (const TensorRecord& input : node.inputs) {
      if (!may_need_gradient(input) || is_among(taken, input)) continue;
      taken.push_back(input);
      if (is_known(input)) add_to(inside, recording_.specs[input.spec].bytes());
    }
    for (const TensorRecord& input : taken) known_.emplace(input.storage, input.spec);
    const std::int64_t from_outside = node.input_gradient_bytes - inside;
    add_to(row_.figures.backward_bytes, std::max<std::int64_t>(0, from_outside));
  }

  bool may_need_gradient(const TensorRecord& tensor) const {
    if (tensor.spec == none || tensor.storage == none) return false;
    return recording_.storages[tensor.storage].kind != StorageKind::parameter &&
           is_floating_point(recording_.specs[tensor.spec].dtype);
  }

  bool same_geometry(std::int32_t a, std::int32_t b) const {
    return a == b || recording_.specs[a] == recording_.specs[b];
  }

  bool is_among(const std::vector<TensorRecord>& tensors, const TensorRecord& tensor) const {
    return std::any_of(tensors.begin(), tensors.end(), [&](const TensorRecord& other) {
      return other.storage == tensor.storage && same_geometry(other.spec, tensor.spec);
    });
  }

  bool is_known(const TensorRecord& tensor) const {
    const auto [begin, end] = known_.equal_range(tensor.storage);
    return std::any_of(begin, end,
                       [&](const auto& other) { return same_geometry(other.second, tensor.spec); });
  }

  const Recording& recording_;
  const std::vector<bool>& leaves_;
  FoldedRow& row_;
  std::unordered_set<NodeId> nodes_;
  std::unordered_multimap<StorageId, std::int32_t> known_;  ///< Made or taken: storage and spec.
  std::unordered_set<StorageId> parameters_, outputs_;
};

}  // namespace

void fill_figures(const Profile& profile, std::vector<FoldedRow>& rows) {
  const Recording& recording = profile.recording;
  const std::vector<std::size_t> row_of = rows_of_nodes(recording, rows);
  const std::vector<bool> leaves = leaving(recording, row_of);
  for (FoldedRow& row : rows) {
    if (row.nodes.size() == 1) {
      row.figures = profile.nodes[row.nodes.front()].figures;
      continue;
    }
    RowBorder border(recording, leaves, row);
    for (NodeId node : row.nodes) {
      add_node(row.figures, profile.nodes[node].figures);
      border.add(node);
    }
  }
}

}  // namespace symprof::profile
