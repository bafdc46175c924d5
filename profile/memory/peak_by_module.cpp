#include "profile/memory/peak_by_module.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "record/module_path.h"

namespace symprof::profile {
namespace {

using Kind = PeakOwner::Kind;

bool has_modules(const Recording& recording) {
  return std::ranges::any_of(recording.nodes,
                             [](const NodeRecord& node) { return !node.module.empty(); });
}

Kind kind_of(const NodeRecord& node, Kind operation) {
  switch (node.kind) {
    case NodeKind::input:
      return Kind::input;
    case NodeKind::operation:
      return operation;
    case NodeKind::output:
      return Kind::output;
    case NodeKind::loss:
      return Kind::loss;
    case NodeKind::optimizer:
      return Kind::optimizer;
  }
  return Kind::unknown;
}

/// Sums the holdings of each owner.
class Rows {
 public:
  void add(Kind kind, std::string_view name, const MemoryBreakdown& held) {
    if (held.total() == 0) return;
    const auto [place, is_new] = places_.try_emplace({kind, name}, rows_.size());
    if (is_new) rows_.push_back({kind, std::string(name), {}});
    rows_[place->second].held += held;
  }

  std::vector<PeakOwner> largest_first() && {
    std::ranges::stable_sort(rows_, std::greater(),
                             [](const PeakOwner& row) { return row.held.total(); });
    return std::move(rows_);
  }

 private:
  std::map<std::pair<Kind, std::string_view>, std::size_t> places_;
  std::vector<PeakOwner> rows_;
};

void add_without_node(Rows& rows, MemoryBreakdown held) {
  MemoryBreakdown workspace;
  std::swap(workspace[MemoryCategory::workspace], held[MemoryCategory::workspace]);
  rows.add(Kind::workspace, "", workspace);
  rows.add(Kind::unknown, "", held);
}

int deepest_path(const Recording& recording) {
  std::ptrdiff_t deepest = 0;
  for (const NodeRecord& node : recording.nodes)
    if (!node.module.empty()) deepest = std::max(deepest, 1 + std::ranges::count(node.module, '.'));
  return static_cast<int>(deepest);
}

}  // namespace

std::vector<PeakOwner> peak_by_module(const StepMemory& memory, const Recording& recording,
                                      std::optional<int> depth) {
  const Kind operation = has_modules(recording) ? Kind::module : Kind::node;
  Rows rows;
  for (const NodeHolding& holding : memory.peak_by_node) {
    if (holding.node == none) {
      add_without_node(rows, holding.held);
      continue;
    }
    const NodeRecord& node = recording.nodes[static_cast<std::size_t>(holding.node)];
    const Kind kind = kind_of(node, operation);
    const std::string_view path =
        depth ? path_prefix(node.module, *depth) : std::string_view(node.module);
    rows.add(kind, kind == Kind::module ? path : std::string_view(node.name), holding.held);
  }
  return std::move(rows).largest_first();
}

int telling_depth(const StepMemory& memory, const Recording& recording) {
  int best = 1;
  std::optional<std::int64_t> least;
  for (int depth = 1; depth <= deepest_path(recording); ++depth) {
    std::int64_t largest = 0, all = 0;
    for (const PeakOwner& row : peak_by_module(memory, recording, depth)) {
      if (row.kind != Kind::module) continue;
      all += row.held.total();
      largest = std::max(largest, row.held.total());
    }
    if (least && largest >= *least) continue;
    best = depth;
    least = largest;
    if (largest <= all / 4) break;
  }
  return best;
}

}  // namespace symprof::profile
