#include "workbench/compare/compare.h"

#include <algorithm>

#include "workbench/compare/meeting.h"

namespace symprof::workbench {
namespace {

constexpr double tolerance_of_float32 = 1e-5, tolerance_of_half = 1e-2;

void describe_rows(Side& side, const ValueRunner& runner) {
  const auto tell = [&side](ValueId id, const ValueRunner::Tensors& values) {
    const auto& rows = side.rows_of[static_cast<std::size_t>(id)];
    if (rows.empty()) return;
    Row described;
    describe(values, described);
    for (const std::size_t row : rows) {
      Row& known = side.rows[row];
      known.dtype = described.dtype;
      known.shape = described.shape;
      known.signature = described.signature;
      known.has_values = described.has_values;
      known.smallest = described.smallest;
      known.largest = described.largest;
    }
  };
  for (std::size_t i = 0; i < side.graph.values.size(); ++i) {
    const Value& value = side.graph.values[i];
    const auto leaf = side.leaves.find(value.name);
    if (value.kind == ValueKind::result) continue;
    if (leaf != side.leaves.end())
      tell(static_cast<ValueId>(i), {leaf->second});
    else if (value.constant)
      tell(static_cast<ValueId>(i), {value.constant});
  }
  runner.stream(side.graph, side.leaves, tell);
}

double usual_tolerance(const Side& a, const Side& b) {
  const auto is_half = [](const Row& row) {
    return row.dtype == "float16" || row.dtype == "bfloat16";
  };
  return std::ranges::any_of(a.rows, is_half) || std::ranges::any_of(b.rows, is_half)
             ? tolerance_of_half
             : tolerance_of_float32;
}

/// By row: the value that it shows, or no_value.
std::vector<ValueId> values_of_rows(const Side& side) {
  std::vector<ValueId> values(side.rows.size(), no_value);
  for (std::size_t id = 0; id < side.rows_of.size(); ++id)
    for (const std::size_t row : side.rows_of[id]) values[row] = static_cast<ValueId>(id);
  return values;
}

void fill_differences(const Side& a, const ValueRunner& runner_a, const Side& b,
                      const ValueRunner& runner_b, const CompareOptions& options, Comparison& out) {
  const std::vector<ValueId> of_a = values_of_rows(a), of_b = values_of_rows(b);
  std::vector<ValuePair> pairs;
  std::vector<std::size_t> lines;
  for (std::size_t k = 0; k < out.alignment.pairs.size(); ++k) {
    const RowPair& pair = out.alignment.pairs[k];
    if (!pair.a || !pair.b || of_a[*pair.a] == no_value || of_b[*pair.b] == no_value) continue;
    if (!a.rows[*pair.a].has_values || !b.rows[*pair.b].has_values) continue;
    pairs.push_back({.a = of_a[*pair.a], .b = of_b[*pair.b]});
    lines.push_back(k);
  }
  compare_values(a, runner_a, b, runner_b, out.tolerance, options.held_bytes, pairs);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    if (!pairs[k].is_compared) continue;
    RowPair& pair = out.alignment.pairs[lines[k]];
    pair.is_within = pairs[k].difference.is_within;
    out.notes[lines[k]] = pairs[k].difference.other;
    if (!pairs[k].difference.other.empty()) continue;
    pair.absolute = pairs[k].difference.absolute;
    pair.relative = pairs[k].difference.relative;
  }
}

std::optional<std::size_t> first_divergence(const Comparison& comparison) {
  const auto first = [&](bool guesses) -> std::optional<std::size_t> {
    for (std::size_t k = 0; k < comparison.alignment.pairs.size(); ++k) {
      const RowPair& pair = comparison.alignment.pairs[k];
      if (pair.a && pair.b && !pair.is_within && pair.is_guess == guesses) return k;
    }
    return std::nullopt;
  };
  if (comparison.outputs_agree()) return std::nullopt;
  const auto found = first(false);
  return found ? found : first(true);
}

}  // namespace

bool Comparison::outputs_agree() const {
  return std::ranges::all_of(alignment.pairs, [&](const RowPair& pair) {
    const bool is_output = (pair.a && a[*pair.a].kind == RowKind::output) ||
                           (pair.b && b[*pair.b].kind == RowKind::output);
    return !is_output || (pair.a && pair.b && pair.is_within);
  });
}

std::size_t Comparison::count(char mark) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      alignment.pairs, [mark](const RowPair& pair) { return pair.mark() == mark; }));
}

Comparison compare(Side& a, const ValueRunner& runner_a, Side& b, const ValueRunner& runner_b,
                   const CompareOptions& options) {
  describe_rows(a, runner_a);
  describe_rows(b, runner_b);
  Comparison out{.a = a.rows, .b = b.rows};
  out.tolerance = options.tolerance.value_or(usual_tolerance(a, b));
  const Operators operators =
      a.has_onnx_operators == b.has_onnx_operators ? Operators::same_words : Operators::other_words;
  out.alignment = options.align == AlignBy::edit ? align_edit(a.rows, b.rows)
                                                 : align_best(a.rows, b.rows, operators);
  out.notes.resize(out.alignment.pairs.size());
  fill_differences(a, runner_a, b, runner_b, options, out);
  out.first_divergence = first_divergence(out);
  return out;
}

}  // namespace symprof::workbench
