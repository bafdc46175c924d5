// Pairs of rows by operands, names and values combined.
#pragma once

#include <span>
#include <vector>

#include "workbench/compare/align.h"

namespace symprof::workbench {

/// True if sums, minima and maxima of two values agree to 1e-2: above the effect of summation order
/// and of half precision.
bool are_near(const Row& a, const Row& b);

/// True if the row's value is not computed: a weight, or a Constant.
bool is_leaf(const Row& row);

/// True if the rows of both sides have operands.
bool know_operands(std::span<const Row> a, std::span<const Row> b);

/// By row of A its partner, by row of B its partner; no_row: none.
struct Partners {
  std::vector<std::size_t> of_a, of_b;

  void join(std::size_t a, std::size_t b) {
    of_a[a] = b;
    of_b[b] = a;
  }
};

/// The number of operands of row `b` that are partners of operands of row `a`, in any order.
std::size_t paired_operands(const Row& a, const Row& b, const Partners& partners);

/// Adds pairs level by level, and repeats while new pairs support others.
void pair_links(std::span<const Row> a, std::span<const Row> b, Operators operators,
                Partners& partners);

}  // namespace symprof::workbench
