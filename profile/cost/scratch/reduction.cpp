// Which accumulator each reduction has. Sources: aten/src/ATen/native/cuda/Reduce*Kernel.cu,
// SharedReduceOps.h, and aten/src/ATen/native/ReduceOps*.{h,cpp} for the copies before it.
#include <limits>
#include <vector>

#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// The dimensions that a call names at schema argument `position`; all of them where it names none,
/// or where the output has none (sum() has its dtype at that position).
std::vector<bool> reduced_dimensions(const Call& call, int position) {
  const TensorSpec& input = *call.input(0);
  const auto rank = static_cast<std::int64_t>(input.sizes.size());
  const bool is_whole = call.output(0)->sizes.empty();
  std::vector<bool> reduced(input.sizes.size());
  constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();
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

/// The maximum is kept, and where it is infinite set to 0; what is summed is a copy
/// (logsumexp_out_impl in ReduceOps.cpp).
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

/// Sums and means of whole numbers first copy them to the output's type; half precision to fp32 is
/// summed as it is (make_reduction in ReduceOpsUtils.h).
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

/// What looks at all elements wants them side by side, and copies others first.
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

bool names_dimension(const Call& call) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  return call.integer(1, 0, none) != none;
}

std::int64_t bytes_of_value(DType dtype) { return element_bytes(dtype); }

/// A number of the input's own type.
Scratch extremum_of_dimensions(const Call& call, const DeviceSpec& device) {
  return reduce(call, device, bytes_of_value, true);
}

/// The same of all, or with its place along one dimension. max.other and min.other compare two
/// tensors.
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

/// The number and its index; among all, in a view of one dimension or a copy.
Scratch position_of_extremum(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t accumulator_bytes = 16;
  if (!names_dimension(call) && is_reduction(call) && !can_be_joined(*call.input(0)))
    return reduce_row(*call.input(0), DType::int64, accumulator_bytes, false, device);
  return reduce(
      call, device, [](DType) { return accumulator_bytes; }, false);
}

/// A single number is looked at in a copy.
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

/// histc(self, bins, min, max): an empty range stands for the numbers' own, which is looked for. A
/// recording has no real numbers.
Scratch histogram(const Call& call, const DeviceSpec& device) {
  constexpr std::int64_t not_whole = std::numeric_limits<std::int64_t>::min();
  const std::int64_t lowest = call.integer(2, 0, not_whole),
                     highest = call.integer(3, 0, not_whole);
  const TensorSpec* input = call.input(0);
  if (input == nullptr || lowest == not_whole || highest == not_whole)
    return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (lowest != highest || input->numel() == 0) return result;
  result.take(element_bytes(input->dtype));
  result.take(element_bytes(input->dtype));
  if (!is_row_major(*input)) result.take(input->bytes());
  add_reduction(result, extrema_of(row_major(input->dtype, input->sizes)), device);
  return result;
}

constexpr ScratchRule reduction_rows[] = {
    {"aten::sum", sum<1>},
    {"aten::nansum", sum<1>},
    {"aten::mean", sum<1>},
    {"aten::prod", sum<1>},
    {"aten::logsumexp", logsumexp},
    {"aten::count_nonzero", count_nonzero},
    {"aten::histc", histogram},
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
};

}  // namespace

ScratchRules reduction_scratch() { return reduction_rows; }

}  // namespace symprof::profile
