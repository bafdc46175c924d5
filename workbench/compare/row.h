// What a comparison of two runs knows of each value.
//
// Public header.
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

/// In the order in which a run yields them. `node` rows are those of graphs that were not run.
enum class RowKind : std::uint8_t { initializer, sparse_initializer, input, node, result, output };

/// A dimension is a number or, where nothing ran, its name.
using RowShape = std::vector<std::variant<std::int64_t, std::string>>;

/// Four letters that say which values two tensors do not share: make_summary of onnx-array-api
/// 0.3.3 (onnx_array_api/reference/evaluator_yield.py).
struct Signature {
  std::array<double, 4> sums{};
  std::array<char, 4> letters{'?', '?', '?', '?'};
};

/// The letter of one sum: 'A' + its whole part modulo 26, '?' from 1e10 on and where it is not
/// finite.
char signature_letter(double sum);

/// `values` in row-major order: four or fewer stand for themselves; more are summed in four equal
/// parts, the last filled up with zeros. Sums are numpy's, pairwise, to the last bit.
Signature signature_of(std::span<const double> values);

/// In the place of a row's number: there is none.
constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

struct Row {
  RowKind kind = RowKind::result;
  std::string dtype;              ///< numpy's name; empty for a node.
  std::optional<RowShape> shape;  ///< Not there: unknown.
  Signature signature;
  bool has_values = false;  ///< False: nothing ran, and the letters are '?'.
  std::string op_type;      ///< Empty for what no node made.
  std::string name;
  // What the tool does not have.
  std::string node;    ///< The name of the node that made it; may be empty.
  std::string module;  ///< The path of the module that the node lies in, where the file tells.
  int output = 0;      ///< Which of the node's outputs it is.
  /// The rows that the node reads, in its order, no_row for one that is left out or unknown; of an
  /// output, the row that it returns. Empty where nobody knows.
  std::vector<std::size_t> operands;
  double smallest = 0, largest = 0;  ///< Of the values that are finite; 0 where none is.
};

}  // namespace symprof::workbench
