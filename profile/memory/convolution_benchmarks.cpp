#include "profile/memory/convolution_benchmarks.h"

#include <string_view>

#include "profile/cost/call.h"
#include "profile/cost/convolution_kernels.h"
#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

// What cuDNN computes: with y = x * w, one of the three from the other two. A transposed
// convolution is the gradient of x of the one that it transposes.
enum class Operation : std::uint8_t { y, x, w };

/// Positions of the arguments in a schema.
struct Places {
  std::size_t input = 0, weight = 1;
  std::uint8_t stride = 3, padding = 4, dilation = 5, transposed = 6, groups = 8;
};
constexpr Places of_forward{}, of_backward{1, 2, 4, 5, 6, 7, 9};

/// ConvolutionParams of native/cudnn/ConvShared.h, and the operation.
std::vector<std::int64_t> key_of(Operation operation, const TensorSpec& x, const TensorSpec& weight,
                                 const CallRecord& call, const Places& places) {
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(operation),
                                   static_cast<std::int64_t>(x.dtype), is_channels_last(x) ? 1 : 0};
  for (const TensorSpec* spec : {&x, &weight})
    key.insert(key.end(), spec->sizes.begin(), spec->sizes.end());
  for (const auto& [position, value] : call.integers)
    if (position == places.stride || position == places.padding || position == places.dilation ||
        position == places.groups)
      key.push_back(value);
  return key;
}

}  // namespace

std::vector<bool> ConvolutionBenchmarks::times(const CallRecord& record) {
  if (!record.times_convolutions) return {};
  const std::string_view op = recording_.ops[static_cast<std::size_t>(record.op)];
  const bool is_backward = op == "aten::convolution_backward";
  if (!is_backward && op != "aten::convolution" && op != "aten::_convolution") return {};
  const Call call(recording_, record);
  const Places& places = is_backward ? of_backward : of_forward;
  const TensorSpec* input = call.input_at(static_cast<int>(places.input));
  const TensorSpec* weight = call.input_at(static_cast<int>(places.weight));
  const bool is_transposed = call.integer(places.transposed, 0, 0) != 0;
  if (input == nullptr || weight == nullptr ||
      is_native_depthwise(call, {places.stride, places.dilation, places.transposed, places.groups},
                          *input, *weight))
    return {};
  const TensorSpec* other = is_backward ? call.input_at(0) : call.output(0);
  const TensorSpec* x = is_transposed ? other : input;
  if (x == nullptr) return {};
  const auto is_new = [&](std::size_t output, Operation operation) {
    return call.output(output) != nullptr &&
           timed_.insert(key_of(operation, *x, *weight, record, places)).second;
  };
  if (!is_backward) return {is_new(0, is_transposed ? Operation::x : Operation::y)};
  const bool times_input = is_new(0, is_transposed ? Operation::y : Operation::x);
  return {times_input, is_new(1, Operation::w)};
}

}  // namespace symprof::profile
