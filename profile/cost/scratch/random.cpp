// Random numbers. Sources: aten/src/ATen/native/Distributions.cpp, DistributionTemplates.h,
// cuda/DistributionTemplates.h, cuda/MultinomialKernel.cu, cuda/Randperm.cu.
#include <algorithm>
#include <cmath>
#include <optional>

#include "profile/cost/scratch/cub.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/sorting.h"
#include "profile/cost/scratch/split_reduction.h"

namespace symprof::profile {
namespace {

/// Half-precision probabilities are converted to fp32 (bernoulli_tensor_kernel). A scalar
/// probability needs no scratch, but recordings omit floating-point arguments.
Scratch bernoulli(const Call& call, const DeviceSpec&) {
  Scratch result;
  result.make_outputs();
  if (const TensorSpec* self = call.input_at(0); self != nullptr && is_half(self->dtype))
    result.take(Count(self->numel()) * element_bytes(DType::float32));
  return result;
}

/// bernoulli_(self, p): double-precision tensors need double-precision probabilities.
Scratch bernoulli_in_place(const Call& call, const DeviceSpec&) {
  const TensorSpec *self = call.input_at(0), *probability = call.input_at(1);
  Scratch result;
  if (self != nullptr && probability != nullptr && self->dtype == DType::float64 &&
      probability->dtype != DType::float64)
    result.take(Count(probability->numel()) * element_bytes(DType::float64));
  return result;
}

/// No standard deviation may be negative: the minimum is read on the host
/// (CHECK_NORMAL_TENSOR_STD).
void add_deviation_check(Scratch& result, const TensorSpec& deviation, const DeviceSpec& device) {
  Reduction lowest{.input = row_major(deviation.dtype, deviation.sizes),
                   .is_reduced = all_dimensions(deviation),
                   .output = deviation.dtype,
                   .accumulator_bytes = element_bytes(deviation.dtype),
                   .accumulates_in_output = !is_half(deviation.dtype)};
  const std::size_t number = result.take(element_bytes(deviation.dtype));
  std::optional<std::size_t> copy;
  if (!is_row_major(deviation)) copy = result.take(deviation.bytes());
  add_reduction(result, lowest, device);
  if (copy) result.give_back(*copy);
  result.give_back(result.take(1));
  result.give_back(number);
}

/// normal(mean, std). A tensor mean with a scalar deviation takes a copy of its size; tensor
/// deviations are checked before and after the output; a scalar mean is no tensor.
Scratch normal(const Call& call, const DeviceSpec& device) {
  const TensorSpec *deviation = call.input_at(1), *output = call.output(0);
  if (output == nullptr) return {.is_incomplete = true};
  Scratch result;
  if (deviation != nullptr && deviation->numel() > 0)
    add_deviation_check(result, *deviation, device);
  result.make_outputs();
  if (deviation == nullptr && call.input_at(0) != nullptr) result.take(output->bytes());
  if (deviation == nullptr) return result;
  if (deviation->numel() > 0) add_deviation_check(result, *deviation, device);
  if (call.input_at(0) == nullptr) result.take(element_bytes(output->dtype));
  return result;
}

/// Checks that the probabilities are finite, not negative, and not all zero in a row.
void add_checks(Scratch& result, const TensorSpec& self, const DeviceSpec& device) {
  const std::int64_t element = element_bytes(self.dtype);
  result.take(element);  // Minimum.
  result.take(element);  // Maximum.
  add_reduction(result, extrema_of(self), device);
  const std::size_t is_finite = result.take(1), is_positive = result.take(1);
  result.take(1);
  result.give_back(is_positive);
  result.give_back(is_finite);
  const bool is_row = self.sizes.size() == 1;
  TensorSpec sums = self;
  sums.sizes = is_row ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{self.sizes[0]};
  sums.strides.assign(sums.sizes.size(), 1);
  const std::size_t sum = result.take(sums.bytes());
  add_reduction(result, sum_of(self, is_row ? all_dimensions(self) : std::vector{false, true}),
                device);
  const std::size_t are_zero = result.take(sums.numel());
  if (is_row) {
    result.give_back(sum);
  } else {
    sums.dtype = DType::boolean;
    result.take(1);
    add_reduction(result, truth_of(sums, {true}), device);
    result.give_back(are_zero);
    result.give_back(sum);
  }
  result.give_back(result.take(1));
}

/// Sampling by argmax of probabilities divided by exponential random numbers.
void add_largest_quotients(Scratch& result, const TensorSpec& self, std::int64_t draws,
                           const DeviceSpec& device) {
  constexpr std::int64_t number_and_index_bytes = 16;
  result.take(self.bytes());
  const std::size_t last = self.sizes.size() - 1;
  if (draws > 1) {
    result.take(Count(self.numel() / self.sizes[last]) * draws * element_bytes(self.dtype));
    return add_search_of_largest(result, self, last, device);
  }
  std::vector<bool> is_reduced(self.sizes.size());
  is_reduced[last] = true;
  add_reduction(result,
                {.input = self,
                 .is_reduced = is_reduced,
                 .output = DType::int64,
                 .accumulator_bytes = number_and_index_bytes,
                 .accumulates_in_output = false},
                device);
}

/// (self, num_samples, replacement)
Scratch multinomial(const Call& call, const DeviceSpec& device) {
  const TensorSpec* self = call.input(0);
  if (self == nullptr) return {.is_incomplete = true};
  Scratch result;
  result.make_outputs();
  if (self->numel() == 0 || self->sizes.empty() || self->sizes.size() > 2) return result;
  const std::int64_t draws = call.integer(1, 0, 1);
  if (draws == 1 || call.integer(2, 0, 0) == 0) {
    add_checks(result, *self, device);
    add_largest_quotients(result, *self, draws, device);
    return result;
  }
  // The normalized distribution and its cumulative sums.
  for (int i = 0; i < 3; ++i) result.take(self->bytes());
  if (self->sizes.back() == self->numel())
    result.take(cub::scan_bytes(self->numel(), element_bytes(self->dtype)));
  return result;
}

/// randperm(n): random keys, with enough bits to make collisions rare, and the values that they
/// sort.
Scratch permutation(const Call& call, const DeviceSpec&) {
  const TensorSpec* output = call.output(0);
  if (output == nullptr || output->numel() == 0) return {.is_incomplete = output == nullptr};
  const std::int64_t count = output->numel();
  const auto n = static_cast<double>(count);
  const double threshold = std::log(0.9) * 12;
  const auto bits = std::min<std::int64_t>(
      64, static_cast<std::int64_t>(std::ceil(std::log2(n - (6 * n * n + 1) / threshold))));
  const std::int64_t key = bits <= 32 ? 4 : 8, value = element_bytes(output->dtype);
  Scratch result;
  result.give_back(result.take(value));
  result.take(count * value);
  result.take(count * key);
  result.take(count * key);
  result.take(cub::radix_sort_bytes(
      {.items = count, .key_bytes = key, .value_bytes = value, .bits = bits}));
  return result;
}

constexpr ScratchRule random_rows[] = {
    {"aten::bernoulli", bernoulli},  {"aten::bernoulli_", bernoulli_in_place},
    {"aten::normal", normal},        {"aten::multinomial", multinomial},
    {"aten::randperm", permutation},
};

}  // namespace

ScratchRules random_scratch() { return random_rows; }

}  // namespace symprof::profile
