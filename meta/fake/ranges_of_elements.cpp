// Bounds of selected elements, counts, random draws and indices.
#include "meta/fake/range_rules.h"

#include <ATen/core/Tensor.h>

#include <cmath>

#include "meta/fake/range_arithmetic.h"

namespace symprof::meta {
namespace {
namespace of_elements {

using namespace ranges;

/// The sum of `count` numbers in `range`.
ValueRange sum(const ValueRange& range, double count) { return mul(range, only(count)); }

/// Indices of a dimension of size `count`.
ValueRange indices(std::int64_t count) { return between(0, std::max(as_double(count) - 1, 0.0)); }

/// Elements of one operand, unchanged or converted to another dtype.
template <std::size_t position>
ResultRanges as_given(Call call) {
  if (!call.may_be_bounded(position)) return {};
  return first(call.operand(position));
}
template <std::size_t one, std::size_t other>
ResultRanges of_either(Call call) {
  if (!call.may_be_bounded(one) || !call.may_be_bounded(other)) return {};
  return first(both(call.operand(one), call.operand(other)));
}
ResultRanges with_zeros(Call call) { return first(both(call.operand(0), only(0))); }

// aten::max and aten::min: over all elements, of two tensors, or along a dimension with indices.
template <bool is_max>
ResultRanges extremum(Call call) {
  const ValueRange self = call.operand(0);
  if (call.result_count() == 2) return {self, indices(call.reduced_elements()), {}};
  if (call.is_tensor(1))
    return first(is_max ? maximum(self, call.operand(1)) : minimum(self, call.operand(1)));
  const double end = is_max ? self.high : self.low;
  return first(between(self.low, self.high, std::isfinite(end) ? end : self.likely));
}

ResultRanges place(Call call) { return first(indices(call.reduced_elements())); }
ResultRanges with_place(Call call) {
  return {call.operand(0), indices(call.reduced_elements()), {}};
}

ResultRanges total(Call call) {
  const double count =
      as_double(call.tensor(0).numel()) / std::max(as_double(call.result().numel()), 1.0);
  return first(sum(call.operand(0), count));
}
ResultRanges count(Call call) {
  const double most =
      as_double(call.tensor(0).numel()) / std::max(as_double(call.result().numel()), 1.0);
  return first(between(0, most, most));
}
ResultRanges running_total(Call call) {
  const ValueRange self = call.operand(0), whole = sum(self, as_double(call.reduced_elements()));
  return first(both(self, whole));
}
ResultRanges histogram(Call call) { return first(between(0, as_double(call.tensor(0).numel()))); }

/// Unique elements, inverse indices, and counts.
ResultRanges distinct(Call call) {
  const std::int64_t size = call.tensor(0).numel();
  return {call.operand(0), indices(size), between(1, std::max(as_double(size), 1.0))};
}

ResultRanges nonzero(Call call) {
  std::int64_t most = 1;
  for (const std::int64_t size : call.tensor(0).sizes()) most = std::max(most, size);
  return first(indices(most));
}
ResultRanges bucket(Call call) { return first(between(0, as_double(call.tensor(0).size(-1)))); }
ResultRanges bucket_of_boundaries(Call call) {
  return first(between(0, as_double(call.tensor(1).numel())));
}

ResultRanges whole_numbers(Call call) {
  const double high = call.number("high", infinity);
  return first(between(call.number("low", 0), std::max(high - 1, call.number("low", 0))));
}
ResultRanges filled_with_whole_numbers(Call call) {
  const double low = call.number("from", 0);
  return first(between(low, std::max(call.number("to", infinity) - 1, low)));
}
ResultRanges uniform(Call call) {
  const double low = call.number("from", 0), high = call.number("to", 1);
  return first(between(low, low + (high - low) * below_one));
}
/// In low-precision dtypes numbers may round to 1.
ResultRanges uniform_from_zero(Call call) {
  const at::ScalarType type = call.result().scalar_type();
  return first(between(0, type == at::kFloat || type == at::kDouble ? below_one : 1));
}
ResultRanges permutation(Call call) {
  return first(indices(static_cast<std::int64_t>(call.number("n", 0))));
}
ResultRanges drawn_places(Call call) { return first(indices(call.tensor(0).size(-1))); }

ResultRanges chosen(Call call) {
  return call.has("reduce") ? ResultRanges{} : first(both(call.operand(0), call.operand(3)));
}

// clang-format off
constexpr RangeRow rows[] = {
    // Elements of their operands.
    {"_to_copy", as_given<0>}, {"clone", as_given<0>}, {"index", as_given<0>},
    {"index_select", as_given<0>}, {"gather", as_given<0>}, {"take", as_given<0>},
    {"masked_select", as_given<0>}, {"repeat", as_given<0>}, {"flip", as_given<0>},
    {"roll", as_given<0>}, {"embedding", as_given<0>}, {"cat", as_given<0>},
    {"stack", as_given<0>}, {"max_pool2d_with_indices", as_given<0>}, {"median", with_place},
    {"amax", extremum<true>}, {"amin", extremum<false>}, {"mean", as_given<0>},
    {"cummax", with_place}, {"cummin", with_place}, {"sort", with_place}, {"topk", with_place},
    {"kthvalue", with_place}, {"mode", with_place}, {"max", extremum<true>},
    {"min", extremum<false>}, {"copy", as_given<1>},
    {"where", of_either<1, 2>}, {"masked_fill", of_either<0, 2>},
    {"index_put", of_either<0, 2>}, {"_index_put_impl", of_either<0, 2>},
    {"index_fill", of_either<0, 3>}, {"index_copy", of_either<0, 3>}, {"scatter", chosen},
    {"slice_scatter", of_either<0, 1>}, {"select_scatter", of_either<0, 1>},
    {"masked_scatter", of_either<0, 2>}, {"constant_pad_nd", of_either<0, 2>},
    {"tril", with_zeros}, {"triu", with_zeros}, {"_unique2", distinct}, {"_unique", distinct},
    {"unique_dim", distinct}, {"unique_consecutive", distinct},
    {"unique_dim_consecutive", distinct},
    // Places.
    {"argmax", place}, {"argmin", place}, {"nonzero", nonzero}, {"searchsorted", bucket},
    {"bucketize", bucket_of_boundaries}, {"multinomial", drawn_places},
    // Random numbers.
    {"rand", uniform_from_zero}, {"rand_like", uniform_from_zero}, {"uniform", uniform},
    {"randint", whole_numbers}, {"randint_like", whole_numbers},
    {"random", filled_with_whole_numbers}, {"randperm", permutation},
    {"bernoulli", always<of_sigmoid>}, {"exponential", always<from_zero>},
    // Reductions.
    {"sum", total}, {"cumsum", running_total}, {"count_nonzero", count}, {"histc", histogram},
    {"bincount", histogram},
};
// clang-format on

}  // namespace of_elements
}  // namespace

std::span<const RangeRow> ranges_of_elements() { return of_elements::rows; }

}  // namespace symprof::meta
