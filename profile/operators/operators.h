// All rules of each operator in one row.
//
// Public header.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/operators/family.h"

namespace symprof::profile {

/// An operator with its rules; null: no rule.
struct Operator {
  std::string_view op;
  std::string_view family;
  const Rule* flops = nullptr;        ///< Null: its calls are unmodelled.
  ScratchFunction scratch = nullptr;  ///< Null: no scratch.
  TimeFunction launches = nullptr;    ///< Null: its time is unknown.

  Confidence confidence() const { return flops ? flops->confidence : Confidence::unmodelled; }
};

/// The rules of families, joined by the operator's name.
class OperatorTable {
 public:
  /// Throws Error when two rules of one kind have one name, or the rules of an operator are in two
  /// families.
  explicit OperatorTable(std::span<const Family> families);

  /// An in-place "aten::add_" has the FLOPs of "aten::add" unless it has its own; scratch rules are
  /// never inherited. Empty if unknown.
  Operator find(std::string_view op) const;
  /// In the order of the families and their rows.
  std::span<const Operator> operators() const { return operators_; }

 private:
  Operator& row(std::string_view op, const Family& family);
  void add_times(const Family& family);
  const Operator* find_row(std::string_view op) const;

  std::vector<Operator> operators_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
};

/// Looks `op` up in the table of all `families`, which is built once.
Operator find_operator(std::string_view op);
/// Looks into the caller's table first, if given, then into the built-in one.
Operator find_operator(std::string_view op, const OperatorTable* own);
/// All rows of the built-in table.
std::span<const Operator> operators();

}  // namespace symprof::profile
