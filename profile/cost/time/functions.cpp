// Element-wise operators. On a GPU each is one memory-bound kernel, except a few functions that are
// compute-bound in 16 bit. A CPU takes many instructions for some functions and for scalar loops;
// those are listed here.
#include <algorithm>
#include <utility>

#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

using enum TimeClass;

/// True if `operand` is transposed against the output: a warp reads consecutive output elements,
/// which lie far apart in `operand`, contiguous along another dimension.
bool lies_across(const TensorSpec& operand, const TensorSpec& out) {
  if (operand.sizes != out.sizes || operand.strides.size() != out.strides.size()) return false;
  bool is_apart = false, is_together = false;
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    if (out.sizes[i] < 2) continue;
    if (operand.strides[i] == 0) return false;  // Expanded: few elements.
    is_apart = is_apart || (out.strides[i] == 1 && operand.strides[i] > 1);
    is_together = is_together || (out.strides[i] != 1 && operand.strides[i] == 1);
  }
  return is_apart && is_together;
}

/// Bytes of a broadcast operand that are read from memory again. It is reread for each index of the
/// dimensions that it is broadcast over; if its inner part exceeds a share of the L2 cache, it has
/// been evicted by then. A quarter of the cache separates masks on four GPUs: those of 16 MiB take
/// 1.4 times as long as their bytes in [8, 32, 2048, 2048] + [8, 1, 2048, 2048], those of 16 KiB
/// and 1 MiB do not (sitar-lab/NeuSight, scripts/asplos/data/dataset/test; V100, T4, A100 and
/// H100).
std::int64_t bytes_read_again(const TensorSpec& operand, const TensorSpec& out,
                              std::int64_t l2_bytes) {
  std::int64_t own_bytes = element_bytes(operand.dtype), times = 1;
  for (std::size_t back = 1; back <= out.sizes.size(); ++back) {
    const std::int64_t size = out.sizes[out.sizes.size() - back];
    const std::size_t rank = operand.sizes.size();
    const bool has_own = back <= rank && operand.sizes[rank - back] == size &&
                         (operand.strides.size() != rank || operand.strides[rank - back] != 0);
    if (has_own)
      own_bytes *= size;
    else if (own_bytes > l2_bytes / 4)
      times *= size;
  }
  return own_bytes * (times - 1);
}

/// Operands whose strides differ in order from the output's are read as by a transposing copy, more
/// slowly than contiguous ones.
LaunchEstimate over_operands(const Call& call, const Cost& cost, const DeviceSpec& device) {
  LaunchEstimate usual = moved(cost, elementwise);
  const TensorSpec* out = call.output(0);
  if (!usual || usual->kernels.empty() || out == nullptr || device.is_cpu) return usual;
  std::int64_t across = 0, own = 0, again = 0;
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    const TensorSpec* operand = call.input(i);
    if (operand == nullptr) continue;
    if (lies_across(*operand, *out))
      across += bytes_across(*operand, device),
          own += 2 * numbers(*operand) * element_bytes(operand->dtype);
    if (device.l2_bytes) again += bytes_read_again(*operand, *out, *device.l2_bytes);
  }
  const std::int64_t bytes = cost.bytes_read + cost.bytes_written + again;
  if (across == 0)
    return Launches{
        {{elementwise, StreamWork{std::max(bytes, bytes_one_by_one(call, *out, device))}}}};
  const std::int64_t others = std::max<std::int64_t>(bytes - own, 0);
  const auto slower =
      static_cast<std::int64_t>(std::max(clocks_of(device, "elementwise.across_slowdown"), 1.0));
  return Launches{{{copy, StreamWork{across + others / slower}}}};
}

/// The rate of a function that takes a GPU longer than its bytes; empty: it does not.
std::string_view rate_of(Function function) {
  switch (function) {
    case Function::gelu:
      return "gelu.per_clock";
    case Function::gelu_backward:
      return "gelu_backward.per_clock";
    default:
      return {};
  }
}

LaunchEstimate on_gpu(Function function, const Call& call, const Cost& cost,
                      const DeviceSpec& device, const TensorSpec* out) {
  LaunchEstimate launches = over_operands(call, cost, device);
  if (out == nullptr || rate_of(function).empty()) return launches;
  return at_least(std::move(launches), bytes_at_rate(device, numbers(*out), rate_of(function)));
}

LaunchEstimate function_of(Function function, const Call& call, const Cost& cost,
                           const DeviceSpec& device) {
  LaunchEstimate stream = moved(cost, elementwise);
  const TensorSpec* out = call.output(0) != nullptr ? call.output(0) : call.input(0);
  if (!device.is_cpu) return on_gpu(function, call, cost, device, out);
  if (!stream || stream->kernels.empty() || out == nullptr) return stream;
  const auto& work = std::get<StreamWork>(stream->kernels[0].work);
  return Launches{{{TimeClass::function, FunctionWork{function, numbers(*out), work.bytes}}}};
}

template <Function function>
LaunchEstimate computes(const Call& call, const Cost& cost, const DeviceSpec& device) {
  return function_of(function, call, cost, device);
}

/// `approximate`: the schema argument "none" or "tanh".
template <Function exact, Function by_tanh, int approximate>
LaunchEstimate computes_gelu(const Call& call, const Cost& cost, const DeviceSpec& device) {
  return function_of(call.integer(approximate, 0, 0) != 0 ? by_tanh : exact, call, cost, device);
}

/// A scalar exponent is mostly 2, 3 or a root, with a short special loop.
LaunchEstimate raises(const Call& call, const Cost& cost, const DeviceSpec& device) {
  if (call.input_count() < 2) return moved(cost, elementwise);
  return function_of(Function::pow, call, cost, device);
}

/// Dropout draws its random numbers before it multiplies: their time adds to the time of the bytes.
LaunchEstimate drops(const Call& call, const Cost& cost, const DeviceSpec& device) {
  LaunchEstimate launches = draws(call, cost, device);
  const TensorSpec* out = call.output(0);
  if (launches && !launches->kernels.empty() && out != nullptr)
    std::get<StreamWork>(launches->kernels[0].work).bytes +=
        bytes_at_rate(device, numbers(*out), "dropout.drawn_per_clock");
  return launches;
}

constexpr TimeRule elementwise_time_rows[] = {
    {"aten::sqrt", computes<Function::sqrt>},
    {"aten::rsqrt", computes<Function::sqrt>},
    {"aten::exp", computes<Function::exp>},
    {"aten::exp2", computes<Function::sqrt>},
    {"aten::expm1", computes<Function::elu>},
    {"aten::log", computes<Function::log>},
    {"aten::log2", computes<Function::log>},
    {"aten::log10", computes<Function::log>},
    {"aten::log1p", computes<Function::log>},
    {"aten::logaddexp", computes<Function::softplus>},
    {"aten::xlogy", computes<Function::log>},
    {"aten::pow", raises},
    {"aten::float_power", raises},
    {"aten::sin", computes<Function::sin>},
    {"aten::cos", computes<Function::sin>},
    {"aten::tan", computes<Function::softplus>},
    {"aten::asin", computes<Function::atan>},
    {"aten::acos", computes<Function::atan>},
    {"aten::atan", computes<Function::atan>},
    {"aten::atan2", computes<Function::atan>},
    {"aten::sinh", computes<Function::elu>},
    {"aten::cosh", computes<Function::elu>},
    {"aten::asinh", computes<Function::lgamma>},
    {"aten::acosh", computes<Function::lgamma>},
    {"aten::atanh", computes<Function::lgamma>},
    {"aten::erf", computes<Function::erf>},
    {"aten::erfc", computes<Function::erf>},
    {"aten::erfinv", computes<Function::lgamma>},
    {"aten::lgamma", computes<Function::lgamma>},
    {"aten::digamma", computes<Function::lgamma>},
    {"aten::remainder", computes<Function::remainder>},
    {"aten::fmod", computes<Function::remainder>},
    {"aten::where", computes<Function::where>},
    {"aten::masked_fill", computes<Function::masked_fill>},
    {"aten::eq", computes<Function::compare>},
    {"aten::ne", computes<Function::compare>},
    {"aten::lt", computes<Function::compare>},
    {"aten::le", computes<Function::compare>},
    {"aten::gt", computes<Function::compare>},
    {"aten::ge", computes<Function::compare>},
};
constexpr TimeRule activation_time_rows[] = {
    {"aten::gelu", computes_gelu<Function::gelu, Function::gelu_tanh, 1>},
    {"aten::gelu_backward",
     computes_gelu<Function::gelu_backward, Function::gelu_tanh_backward, 2>},
    {"aten::silu", computes<Function::sigmoid>},
    {"aten::silu_backward", computes<Function::silu_backward>},
    {"aten::mish", computes<Function::mish>},
    {"aten::mish_backward", computes<Function::mish_backward>},
    {"aten::elu", computes<Function::elu>},
    {"aten::celu", computes<Function::elu>},
    {"aten::selu", computes<Function::elu>},
    {"aten::softplus", computes<Function::softplus>},
    {"aten::softplus_backward", computes<Function::exp>},
    {"aten::sigmoid", computes<Function::sigmoid>},
    {"aten::tanh", computes<Function::tanh>},
    {"aten::logit", computes<Function::log>},
    {"aten::log_sigmoid_forward", computes<Function::softplus>},
    {"aten::log_sigmoid_backward", computes<Function::silu_backward>},
    {"aten::glu", computes<Function::sigmoid>},
    {"aten::glu_backward", computes<Function::silu_backward>},
    {"aten::native_dropout", drops},
    {"aten::_fused_dropout", drops},
};

}  // namespace

TimeRules elementwise_times() { return {over_operands, elementwise_time_rows}; }
TimeRules activation_times() { return {moves_bytes<elementwise>, activation_time_rows}; }

}  // namespace symprof::profile
