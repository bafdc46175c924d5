// Pairs of rows that what they read, their names and their values say together.
#pragma once

#include <span>
#include <vector>

#include "workbench/compare/align.h"

namespace symprof::workbench {

/// Whether sums, least and largest numbers of two values are alike to 1e-2: more than another order
/// of additions changes, and than half precision does.
bool are_near(const Row& a, const Row& b);

/// Whether nothing computes a row's value: a weight, or a Constant.
bool is_leaf(const Row& row);

/// Whether rows of both sides say what their nodes read.
bool know_operands(std::span<const Row> a, std::span<const Row> b);

/// By row of A its partner, by row of B its partner; no_row where there is none.
struct Partners {
  std::vector<std::size_t> of_a, of_b;

  void join(std::size_t a, std::size_t b) {
    of_a[a] = b;
    of_b[b] = a;
  }
};

/// Operands of row `b` that are partners of operands of row `a`, whatever their order.
std::size_t paired_operands(const Row& a, const Row& b, const Partners& partners);

/// Adds pairs level by level, and again as long as one pair makes others sure.
void pair_links(std::span<const Row> a, std::span<const Row> b, Operators operators,
                Partners& partners);

}  // namespace symprof::workbench
