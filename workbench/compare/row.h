// The data of each value in a comparison of two runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace symprof::workbench {

/// In the order in which a run yields them. `node` rows belong to graphs that were not run.
enum class RowKind : std::uint8_t { initializer, sparse_initializer, input, node, result, output };

/// A dimension is a number or, in a graph that was not run, its name.
using RowShape = std::vector<std::variant<std::int64_t, std::string>>;

/// Four letters that distinguish values of two tensors: make_summary of onnx-array-api 0.3.3
/// (onnx_array_api/reference/evaluator_yield.py).
struct Signature {
  std::array<double, 4> sums{};
  std::array<char, 4> letters{'?', '?', '?', '?'};
};

/// The letter of one sum: 'A' + its integer part modulo 26; '?' from 1e10 on and where it is not
/// finite.
char signature_letter(double sum);

/// `values` in row-major order: four or fewer are used directly; more are summed in four equal
/// parts, the last padded with zeros. Sums are pairwise as in numpy, exact to the last bit.
Signature signature_of(std::span<const double> values);

/// Stands for a missing row number.
constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

struct Row {
  RowKind kind = RowKind::result;
  std::string dtype;              ///< numpy's name; empty for a node.
  std::optional<RowShape> shape;  ///< Empty: unknown.
  Signature signature;
  bool has_values = false;  ///< False: the graph was not run, and the letters are '?'.
  std::string op_type;      ///< Empty if no node made it.
  std::string name;
  // Fields that onnx-array-api does not have.
  std::string node;    ///< The name of the node that made it; may be empty.
  std::string module;  ///< The module path of that node, if the file states it.
  int output = 0;      ///< The index among the node's outputs.
  /// The rows that the node reads, in order; no_row for an omitted or unknown one; for an output,
  /// the row that it returns. Empty if unknown.
  std::vector<std::size_t> operands;
  double smallest = 0, largest = 0;  ///< Over the finite values; 0 if there are none.
};

}  // namespace symprof::workbench
