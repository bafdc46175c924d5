// Rules for bounds of a call's results, from its operands' bounds or from the operator's range: a
// probability, an index of a dimension.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "meta/fake/range_call.h"

namespace symprof::meta {

/// By result; further results have no bounds.
using ResultRanges = std::array<ValueRange, 3>;
using RangeRule = ResultRanges (*)(const RangeCall&);

/// `op` without its namespace.
struct RangeRow {
  std::string_view op;
  RangeRule rule;
};
std::span<const RangeRow> ranges_of_arithmetic();
std::span<const RangeRow> ranges_of_elements();

/// The rule for "aten::mul" and its in-place form "aten::mul_"; null if there is none.
RangeRule range_rule(std::string_view op);

namespace ranges {

using Call = const RangeCall&;

inline double as_double(std::int64_t number) { return static_cast<double>(number); }

inline ResultRanges first(const ValueRange& range) { return {range, {}, {}}; }

inline constexpr ValueRange of_sigmoid = {0, 1, 1}, of_tanh = {-1, 1, 1},
                            from_zero = {0, infinity, 1}, to_zero = {-infinity, 0, 0},
                            zero = {0, 0, 0}, one = {1, 1, 1};

template <const ValueRange& range>
ResultRanges always(Call) {
  return first(range);
}

}  // namespace ranges
}  // namespace symprof::meta
