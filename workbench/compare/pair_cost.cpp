#include "workbench/compare/pair_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "workbench/compare/align.h"

namespace symprof::workbench {
namespace {

// Costs of differences: DistanceExecution (onnx_array_api/reference/evaluator_yield.py).
constexpr double kind_cost = 1000;
constexpr double dtype_cost = 10;
constexpr double float_cost = 2;  // Between float16, float32 and float64.
constexpr double rank_cost = 100;
constexpr double name_cost = 50;
constexpr double op_type_cost = 10;

bool is_numpy_float(const std::string& dtype) {
  return dtype == "float16" || dtype == "float32" || dtype == "float64";
}

/// In doubles, as products of sizes may exceed 64 bits.
double dimension_cost(const RowShape::value_type& a, const RowShape::value_type& b) {
  const auto* size_a = std::get_if<std::int64_t>(&a);
  const auto* size_b = std::get_if<std::int64_t>(&b);
  if (size_a && size_b)
    return std::abs(static_cast<double>(*size_a) - static_cast<double>(*size_b));
  return a == b ? 0 : name_cost;
}

}  // namespace

RowCosts::RowCosts(std::span<const Row> a, std::span<const Row> b)
    : a_(codes_of(a)), b_(codes_of(b)) {}

std::vector<RowCosts::Code> RowCosts::codes_of(std::span<const Row> rows) {
  std::vector<Code> codes;
  codes.reserve(rows.size());
  for (const Row& row : rows)
    codes.push_back({.kind = row.kind,
                     .dtype = word(row.dtype),
                     .op_type = word(row.op_type),
                     .shape = shape(row.shape),
                     .is_float = is_numpy_float(row.dtype),
                     .letters = row.signature.letters});
  return codes;
}

std::size_t RowCosts::word(const std::string& text) {
  return words_.emplace(text, words_.size()).first->second;
}

std::size_t RowCosts::shape(const std::optional<RowShape>& shape) {
  const auto [found, is_new] = shape_numbers_.emplace(shape, shapes_.size());
  if (!is_new) return found->second;
  ShapeCode code{.shape = &found->first};
  if (shape)
    for (const auto& dimension : *shape) {
      const auto* size = std::get_if<std::int64_t>(&dimension);
      code.has_names = code.has_names || !size;
      if (size) code.elements *= static_cast<double>(*size);
    }
  shapes_.push_back(code);
  return found->second;
}

double RowCosts::shape_cost(const ShapeCode& a, const ShapeCode& b) {
  if (!*a.shape || !*b.shape) return rank_cost;
  const bool has_names = a.has_names || b.has_names;
  const double apart = has_names ? 0 : std::abs(a.elements - b.elements);
  if ((*a.shape)->size() != (*b.shape)->size()) return apart + rank_cost;
  double cost = apart;
  for (std::size_t k = 0; k < (*a.shape)->size(); ++k)
    cost += dimension_cost((**a.shape)[k], (**b.shape)[k]);
  return cost;
}

double RowCosts::operator()(std::size_t a, std::size_t b) const {
  const Code& left = a_[a];
  const Code& right = b_[b];
  double cost = left.kind == right.kind ? 0 : kind_cost;
  if (left.dtype != right.dtype) cost += left.is_float && right.is_float ? float_cost : dtype_cost;
  if (left.shape != right.shape) cost += shape_cost(shapes_[left.shape], shapes_[right.shape]);
  for (std::size_t k = 0; k < left.letters.size(); ++k)
    cost += std::abs(left.letters[k] - right.letters[k]);
  if (left.op_type != right.op_type) cost += op_type_cost;
  return cost;
}

double pair_cost(const Row& a, const Row& b) {
  return RowCosts(std::span(&a, 1), std::span(&b, 1))(0, 0);
}

}  // namespace symprof::workbench
