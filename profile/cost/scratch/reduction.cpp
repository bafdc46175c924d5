// The accumulator of each reduction. Sources: aten/src/ATen/native/cuda/Reduce*Kernel.cu,
// SharedReduceOps.h, aten/src/ATen/native/ReduceOps*.{h,cpp} for the copies before it; for segments
// cuda/SegmentReduce.cu, SegmentReduce.cpp; for norms Normalization.cpp, TensorCompare.cpp.
#include <limits>
#include <vector>

#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/segments.h"
#include "profile/cost/scratch/sorting.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

/// Reduced dimensions: those at schema argument `position`; all if there are none, or if the output
/// is a scalar (sum() has its dtype at that position).
std::vector<bool> reduced_dimensions(const Call& call, int position) {
  const TensorSpec& input = *call.input(0);
  const auto rank = static_cast<std::int64_t>(input.sizes.size());
  const bool is_whole = call.output(0)->sizes.empty();
  std::vector<bool> reduced(input.sizes.size());
  std::size_t count = 0;
  for (; !is_whole && call.integer(position, count, nothing) != nothing; ++count) {
    const std::int64_t dimension = call.integer(position, count, 0);
    reduced[static_cast<std::size_t>(dimension < 0 ? dimension + rank : dimension)] = true;
  }
  if (count == 0) reduced.assign(input.sizes.size(), true);
  return reduced;
}

bool is_reduction(const Call& call) {
  return call.input_count() == 1 && call.output(0) != nullptr && call.input(0)->numel() > 0;
}

/// The maximum is kept, and set to 0 where infinite; the sum is over a copy (logsumexp_out_impl in
/// ReduceOps.cpp).
Scratch logsumexp(const Call& call, const DeviceSpec& device) {
  if (!is_reduction(call) || !is_floating_point(call.input(0)->dtype))
    return {.is_incomplete = true};
  Reduction reduction{.input = *call.input(0),
                      .is_reduced = reduced_dimensions(call, 1),
                      .output = call.input(0)->dtype,
                      .accumulator_bytes = element_bytes(call.input(0)->dtype),
                      .accumulates_in_output = !is_half(call.input(0)->dtype)};
  Scratch result;
  const std::int64_t outputs = call.output(0)->numel();
  result.take(call.output(0)->bytes());  // The maximum.
  add_reduction(result, reduction, device);
  const std::size_t magnitude = result.take(call.output(0)->bytes());
  const std::size_t is_infinite = result.take(outputs);
  result.give_back(magnitude);
  result.give_back(is_infinite);
  result.take(reduction.input.bytes());
  result.make_outputs();
  reduction.accumulator_bytes = accumulated_bytes(reduction.input.dtype);
  add_reduction(result, reduction, device);
  return result;
}

/// The sum of `self != 0`.
Scratch count_nonzero(const Call& call, const DeviceSpec& device) {
  if (!is_reduction(call)) return {.is_incomplete = true};
  Reduction reduction{.input = *call.input(0),
                      .is_reduced = reduced_dimensions(call, 1),
                      .output = DType::int64,
                      .accumulator_bytes = element_bytes(DType::int64)};
  Scratch result;
  if (reduction.input.dtype != DType::boolean) result.take(reduction.input.numel());
  result.make_outputs();
  reduction.input.dtype = DType::int64;
  result.take(reduction.input.bytes());
  add_reduction(result, reduction, device);
  return result;
}

/// Sums and means of integers first copy them to the output's dtype; half precision to fp32 is
/// summed without a copy (make_reduction in ReduceOpsUtils.h).
template <int position>
Scratch sum(const Call& call, const DeviceSpec& device) {
  if (!is_reduction(call)) return {.is_incomplete = true};
  Scratch result;
  TensorSpec input = *call.input(0);
  const DType output = call.output(0)->dtype;
  if (input.dtype != output && !(is_half(input.dtype) && output == DType::float32)) {
    input.dtype = output;
    result.take(input.bytes());
  }
  Reduction reduction = sum_of(input, reduced_dimensions(call, position));
  reduction.output = output;
  reduction.accumulates_in_output = !(is_half(input.dtype) && input.dtype == output);
  add_reduction(result, reduction, device);
  return result;
}

template <class Accumulator>
Scratch reduce(const Call& call, const DeviceSpec& device, Accumulator accumulator_bytes,
               bool accumulates_in_output) {
  if (!is_reduction(call)) return {.is_incomplete = true};
  const TensorSpec& input = *call.input(0);
  Scratch result;
  add_reduction(result,
                {.input = input,
                 .is_reduced = reduced_dimensions(call, 1),
                 .output = call.output(0)->dtype,
                 .accumulator_bytes = accumulator_bytes(input.dtype),
                 .accumulates_in_output = accumulates_in_output && !is_half(input.dtype)},
                device);
  return result;
}

/// Full reductions need contiguous elements, and copy other tensors first.
Scratch reduce_row(const TensorSpec& input, DType output, std::int64_t accumulator_bytes,
                   bool accumulates_in_output, const DeviceSpec& device) {
  Scratch result;
  if (!is_row_major(input)) result.take(input.bytes());
  const TensorSpec row = row_major(input.dtype, {input.numel()});
  add_reduction(result,
                {.input = row,
                 .is_reduced = {true},
                 .output = output,
                 .accumulator_bytes = accumulator_bytes,
                 .accumulates_in_output = accumulates_in_output},
                device);
  return result;
}

bool names_dimension(const Call& call) { return call.integer(1, 0, nothing) != nothing; }

std::int64_t bytes_of_value(DType dtype) { return element_bytes(dtype); }

/// max and min along dimensions accumulate in the input's dtype.
Scratch extremum_of_dimensions(const Call& call, const DeviceSpec& device) {
  return reduce(call, device, bytes_of_value, true);
}

/// max and min of all elements, or along one dimension with indices. max.other and min.other
/// compare two tensors.
Scratch extremum(const Call& call, const DeviceSpec& device) {
  if (call.input_count() == 2) return {};
  const auto of_pair = [](DType dtype) { return element_bytes(dtype) <= 8 ? 16 : 32; };
  if (call.output_count() == 2) return reduce(call, device, of_pair, false);
  if (!is_reduction(call)) return {.is_incomplete = true};
  const TensorSpec& input = *call.input(0);
  return reduce_row(input, input.dtype, element_bytes(input.dtype), !is_half(input.dtype), device);
}

Scratch both_extrema(const Call& call, const DeviceSpec& device) {
  const auto both = [](DType dtype) { return 2 * element_bytes(dtype); };
  if (names_dimension(call)) return reduce(call, device, both, false);
  if (!is_reduction(call)) return {.is_incomplete = true};
  const TensorSpec& input = *call.input(0);
  return reduce_row(input, input.dtype, both(input.dtype), false, device);
}

/// argmax and argmin: value and index; over all elements, in a flattened view or a copy.
Scratch position_of_extremum(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t accumulator_bytes = 16;
  if (!names_dimension(call) && is_reduction(call) && !can_be_joined(*call.input(0)))
    return reduce_row(*call.input(0), DType::int64, accumulator_bytes, false, device);
  return reduce(
      call, device, [](DType) { return accumulator_bytes; }, false);
}

/// A scalar input is copied.
Scratch truth(const Call& call, const DeviceSpec& device) {
  if (const TensorSpec* input = call.input(0); input != nullptr && input->sizes.empty())
    return {.blocks = {input->dtype == DType::boolean ? 0 : 1}};
  return reduce(
      call, device, [](DType) { return std::int64_t{1}; }, true);
}

/// WelfordData: mean, squared distance, and the count twice.
Scratch variance(const Call& call, const DeviceSpec& device) {
  return reduce(
      call, device, [](DType dtype) { return dtype == DType::float64 ? 32 : 16; }, false);
}

/// dist(self, other, p): the norm of their difference.
Scratch distance(const Call& call, const DeviceSpec& device) {
  const TensorSpec *self = call.input_at(0), *other = call.input_at(1), *output = call.output(0);
  if (self == nullptr || other == nullptr || output == nullptr) return {.is_incomplete = true};
  std::vector<std::int64_t> sizes = self->sizes;
  broadcast(sizes, other->sizes);
  const TensorSpec difference = row_major(output->dtype, std::move(sizes));
  Scratch result;
  result.take(difference.bytes());
  result.make_outputs();
  add_reduction(result, sum_of(difference, all_dimensions(difference)), device);
  return result;
}

/// renorm(self, p, dim, maxnorm): a norm for each index of the dimension, in fp32 for half
/// precision, and the scale factors.
Scratch renorm(const Call& call, const DeviceSpec& device) {
  const TensorSpec* self = call.input_at(0);
  if (self == nullptr || self->sizes.empty()) return {.is_incomplete = true};
  const std::size_t dimension = dimension_of(*self, call.integer(2, 0, 0));
  std::vector<bool> is_reduced = all_dimensions(*self);
  is_reduced[dimension] = false;
  Scratch result;
  result.make_outputs();
  result.take(self->sizes[dimension] * accumulated_bytes(self->dtype));
  Reduction norm = sum_of(*self, std::move(is_reduced));
  norm.accumulates_in_output = true;
  if (is_half(self->dtype)) norm.output = DType::float32;
  add_reduction(result, norm, device);
  if (is_half(self->dtype)) result.take(self->sizes[dimension] * element_bytes(self->dtype));
  return result;
}

/// (data, reduce, lengths, indices, offsets, axis, unsafe, initial). 1-D data is reduced by cub,
/// with one byte of temporary storage.
Scratch segment_reduce(const Call& call, const DeviceSpec&) {
  const TensorSpec *data = call.input_at(0), *lengths = call.input_at(2),
                   *offsets = call.input_at(4);
  if (data == nullptr || !has_segments(lengths, offsets)) return {.is_incomplete = true};
  Scratch result;
  if (!is_row_major(*data)) result.take(data->bytes());
  result.make_outputs();
  add_offsets(result, lengths, offsets);
  if (data->sizes.size() == 1) result.give_back(result.take(1));
  return result;
}

/// (gradient, output, data, reduce, lengths, offsets, axis, initial)
Scratch segment_reduce_backward(const Call& call, const DeviceSpec&) {
  const TensorSpec *gradient = call.input_at(0), *lengths = call.input_at(4),
                   *offsets = call.input_at(5);
  if (gradient == nullptr || !has_segments(lengths, offsets)) return {.is_incomplete = true};
  Scratch result;
  for (const int position : {0, 2})
    if (const TensorSpec* tensor = call.input_at(position);
        tensor != nullptr && !is_row_major(*tensor))
      result.take(tensor->bytes());
  result.make_outputs();
  add_offsets(result, lengths, offsets);
  return result;
}

constexpr ScratchRule reduction_rows[] = {
    {"aten::sum", sum<1>},
    {"aten::nansum", sum<1>},
    {"aten::mean", sum<1>},
    {"aten::prod", sum<1>},
    {"aten::logsumexp", logsumexp},
    {"aten::count_nonzero", count_nonzero},
    {"aten::linalg_vector_norm", sum<2>},
    {"aten::norm", sum<2>},
    {"aten::amax", extremum_of_dimensions},
    {"aten::amin", extremum_of_dimensions},
    {"aten::max", extremum},
    {"aten::min", extremum},
    {"aten::aminmax", both_extrema},
    {"aten::argmax", position_of_extremum},
    {"aten::argmin", position_of_extremum},
    {"aten::any", truth},
    {"aten::all", truth},
    {"aten::var", variance},
    {"aten::std", variance},
    {"aten::var_mean", variance},
    {"aten::std_mean", variance},
    {"aten::dist", distance},
    {"aten::renorm", renorm},
    {"aten::renorm_", renorm},
    {"aten::segment_reduce", segment_reduce},
    {"aten::_segment_reduce_backward", segment_reduce_backward},
    {"aten::allclose", unknown_scratch},
};

}  // namespace

ScratchRules reduction_scratch() { return reduction_rows; }

}  // namespace symprof::profile
