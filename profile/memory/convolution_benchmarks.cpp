#include "profile/memory/convolution_benchmarks.h"

#include <optional>
#include <string_view>
#include <vector>

#include "profile/cost/call.h"
#include "profile/cost/convolution_kernels.h"
#include "profile/cost/scratch/cudnn_trials.h"
#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

// The tensor that cuDNN computes of y = x * w, from the other two. A transposed convolution is the
// input gradient of its convolution.
enum class Operation : std::uint8_t { y, x, w };

/// Positions of the arguments in a schema.
struct Places {
  std::size_t input = 0, weight = 1;
  std::uint8_t stride = 3, padding = 4, dilation = 5, transposed = 6, groups = 8;
};
constexpr Places of_forward{}, of_backward{1, 2, 4, 5, 6, 7, 9};
constexpr std::string_view backward_op = "aten::convolution_backward";

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

PlanPass pass_of(Operation operation) {
  if (operation == Operation::y) return PlanPass::forward;
  return operation == Operation::x ? PlanPass::data_gradient : PlanPass::weight_gradient;
}

ConvolutionWindow window_of(const Call& call, const Places& places) {
  ConvolutionWindow window;
  for (std::size_t i = 0; i < window.stride.size(); ++i) {
    window.stride[i] = call.integer(places.stride, i, 1);
    window.padding[i] = call.integer(places.padding, i, 0);
    window.dilation[i] = call.integer(places.dilation, i, 1);
  }
  return window;
}

}  // namespace

bool ConvolutionBenchmarks::is_timed(const CallRecord& call) const {
  const std::string_view op = recording_.ops[static_cast<std::size_t>(call.op)];
  return (times_all_ || call.times_convolutions) &&
         (op == backward_op || op == "aten::convolution" || op == "aten::_convolution");
}

void ConvolutionBenchmarks::begin_call(const CallRecord& record) {
  trials_.clear();
  if (!is_timed(record)) return;
  const bool is_backward = recording_.ops[static_cast<std::size_t>(record.op)] == backward_op;
  const Call call(recording_, record);
  const Places& places = is_backward ? of_backward : of_forward;
  const TensorSpec* input = call.input_at(static_cast<int>(places.input));
  const TensorSpec* weight = call.input_at(static_cast<int>(places.weight));
  const TensorSpec* other = is_backward ? call.input_at(0) : call.output(0);
  if (input == nullptr || weight == nullptr || other == nullptr ||
      is_native_depthwise(call, {places.stride, places.dilation, places.transposed, places.groups},
                          *input, *weight))
    return;
  const bool is_transposed = call.integer(places.transposed, 0, 0) != 0;
  const TensorSpec &x = is_transposed ? *other : *input, &y = is_transposed ? *input : *other;
  const PlannedConvolution planned{
      x, *weight, y, is_channels_last_alone(*input) || is_channels_last_alone(*weight),
      call.integer(places.groups, 0, 1)};
  const auto add = [&](std::size_t output, Operation operation) {
    if (call.output(output) == nullptr ||
        !timed_.insert(key_of(operation, x, *weight, record, places)).second)
      return;
    trials_.push_back({output, trial_workspace_bytes(pass_of(operation), planned,
                                                     window_of(call, places), device_)});
  };
  if (!is_backward) return add(0, is_transposed ? Operation::x : Operation::y);
  add(0, is_transposed ? Operation::y : Operation::x);
  add(1, Operation::w);
}

void ConvolutionBenchmarks::try_plans(const CallRecord& call, StorageId storage) {
  for (const auto& [output, bytes] : trials_) {
    if (call.outputs[output].storage != storage) continue;
    std::optional<HeldBlock> workspace;
    for (std::int64_t left = bytes; left > 0 && !workspace; left /= 2)
      workspace =
          blocks_.request_if_there(left, MemoryCategory::temporaries, call.node, call.stream);
    if (workspace) blocks_.give_back(*workspace);
    blocks_.empty_cache();
  }
}

}  // namespace symprof::profile
