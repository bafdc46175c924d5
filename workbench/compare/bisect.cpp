#include "workbench/compare/bisect.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "workbench/compare/links.h"
#include "workbench/constants.h"
#include "workbench/cut.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

/// Rows of A or B, by index.
using RowSet = std::set<std::size_t>;

/// The values that a run computes for `wanted` rows.
std::map<std::size_t, ConstantPointer> values_at(const BisectSide& from, const RowSet& wanted) {
  const Side& side = from.side;
  std::map<std::size_t, ConstantPointer> found;
  const auto keep = [&](ValueId id, const ValueRunner::Tensors& values) {
    for (const std::size_t row : side.rows_of[static_cast<std::size_t>(id)])
      if (wanted.contains(row) && values.size() == 1) found[row] = values[0];
  };
  for (std::size_t id = 0; id < side.rows_of.size(); ++id)
    if (const auto leaf = side.leaves.find(side.graph.values[id].name);
        leaf != side.leaves.end() && side.graph.values[id].kind != ValueKind::result)
      keep(static_cast<ValueId>(id), {leaf->second});
  from.runner.stream(side.graph, side.leaves, keep);
  return found;
}

int nodes_of(const onnx::ModelProto& model) {
  return static_cast<int>(std::ranges::count_if(
      model.graph().node(), [](const onnx::NodeProto& node) { return !is_constant(node); }));
}

class Bisector {
 public:
  explicit Bisector(const BisectQuestion& question)
      : question_(question),
        a_(question.a.side),
        b_(question.b.side),
        pair_of_a_(a_.rows.size(), nullptr),
        pair_of_b_(b_.rows.size(), nullptr) {
    for (const RowPair& pair : question_.comparison.alignment.pairs) {
      if (pair.a) pair_of_a_[*pair.a] = &pair;
      if (pair.b) pair_of_b_[*pair.b] = &pair;
    }
  }

  Bisected run() {
    std::size_t tried = 0;
    for (const RowPair& pair : question_.comparison.alignment.pairs) {
      if (!is_candidate(pair) || ++tried > most_tried) continue;
      std::optional<Bisected> found = part_at(*pair.a, *pair.b);
      if (found && !found->difference.is_within) return *std::move(found);
    }
    return whole();
  }

 private:
  static constexpr std::size_t most_tried = 32;

  bool is_candidate(const RowPair& pair) const {
    return pair.a && pair.b && !pair.is_within && !pair.is_guess &&
           a_.rows[*pair.a].kind == RowKind::result && !is_leaf(a_.rows[*pair.a]) &&
           !is_leaf(b_.rows[*pair.b]);
  }

  static bool is_alike(const RowPair* pair) {
    return pair && pair->a && pair->b && pair->is_within && !pair->is_guess && pair->absolute;
  }

  /// The nearest ancestors of `row` with equal values on both sides, and inputs; weights and
  /// Constants stay in the part.
  static RowSet frontier(const Side& side, const std::vector<const RowPair*>& pairs,
                         std::size_t row) {
    RowSet found, seen;
    std::vector<std::size_t> open = {row};
    while (!open.empty()) {
      const std::size_t now = open.back();
      open.pop_back();
      for (const std::size_t operand : side.rows[now].operands) {
        if (operand == no_row || !seen.insert(operand).second || is_leaf(side.rows[operand]))
          continue;
        if (side.rows[operand].kind == RowKind::input || is_alike(pairs[operand]))
          found.insert(operand);
        else
          open.push_back(operand);
      }
    }
    return found;
  }

  std::optional<Bisected> part_at(std::size_t row_a, std::size_t row_b) const {
    const RowSet of_a = frontier(a_, pair_of_a_, row_a);
    const RowSet of_b = frontier(b_, pair_of_b_, row_b);
    RowSet wanted = of_a;  // Both sides get A's values.
    for (const std::size_t row : of_b)
      if (is_alike(pair_of_b_[row])) wanted.insert(*pair_of_b_[row]->a);
    const auto values = values_at(question_.a, wanted);
    const auto own = values_at(question_.b, of_b);
    Bisected found{.result_a = a_.rows[row_a].name, .result_b = b_.rows[row_b].name};
    const auto value_of_b = [&](std::size_t row) {
      const RowPair* pair = pair_of_b_[row];
      const auto theirs = is_alike(pair) ? values.find(*pair->a) : values.end();
      return theirs != values.end() ? theirs->second : own.at(row);
    };
    for (const std::size_t row : of_a) {
      if (!values.contains(row)) return std::nullopt;  // A sequence cannot be an input of a part.
      found.a.inputs[a_.rows[row].name] = values.at(row);
    }
    for (const std::size_t row : of_b) {
      if (!own.contains(row)) return std::nullopt;
      found.b.inputs[b_.rows[row].name] = value_of_b(row);
    }
    make_part(question_.a, found.result_a, found.a);
    make_part(question_.b, found.result_b, found.b);
    compare_parts(found);
    return found;
  }

  static void make_part(const BisectSide& from, const std::string& result, BisectPart& part) {
    part.model = std::make_shared<onnx::ModelProto>(from.model);
    std::vector<std::string> names;
    names.reserve(part.inputs.size());
    for (const auto& [name, value] : part.inputs) names.push_back(name);
    infer_types(*part.model);
    cut(*part.model, names, {result}, from.side.path);
    part.nodes = nodes_of(*part.model);
  }

  /// The single result of a part.
  static ValueRunner::Tensors value_of(const BisectPart& part, const BisectSide& from) {
    const Side& whole = from.side;
    Side side = side_of(*part.model, whole.path);
    side.leaves.insert(part.inputs.begin(), part.inputs.end());
    side.leaves.insert(whole.leaves.begin(), whole.leaves.end());
    return from.runner_of(part.model, whole.path).run(side.graph, side.leaves).at(0);
  }

  void compare_parts(Bisected& found) const {
    found.difference = difference_of(value_of(found.a, question_.a), value_of(found.b, question_.b),
                                     question_.comparison.tolerance);
  }

  Bisected whole() const {
    Bisected found{.is_whole = true};
    found.a.model = std::make_shared<onnx::ModelProto>(question_.a.model);
    found.b.model = std::make_shared<onnx::ModelProto>(question_.b.model);
    for (auto [side, part] : {std::pair(&a_, &found.a), std::pair(&b_, &found.b)}) {
      part->nodes = nodes_of(*part->model);
      for (const Row& row : side->rows)
        if (row.kind == RowKind::input) part->inputs[row.name] = side->leaves.at(row.name);
    }
    for (const RowPair& pair : question_.comparison.alignment.pairs) {
      if (!pair.a || !pair.b || pair.is_within || a_.rows[*pair.a].kind != RowKind::output)
        continue;
      found.result_a = a_.rows[*pair.a].name;
      found.result_b = b_.rows[*pair.b].name;
      found.difference.absolute = pair.absolute.value_or(0);
      found.difference.relative = pair.relative.value_or(0);
      found.difference.is_within = false;
    }
    return found;
  }

  const BisectQuestion& question_;
  const Side &a_, &b_;
  std::vector<const RowPair*> pair_of_a_, pair_of_b_;
};

}  // namespace

Bisected bisect(const BisectQuestion& question) { return Bisector(question).run(); }

}  // namespace symprof::workbench
