#include "profile/cost/time/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace symprof::profile {
namespace {

bool has_rate(const DeviceSpec& device, std::string_view dtype) {
  return std::ranges::any_of(device.flops_per_second,
                             [&](const auto& rate) { return rate.first == dtype; });
}

std::int64_t bytes_of(const Cost& cost, double passes) {
  return std::llround(static_cast<double>(cost.bytes_read + cost.bytes_written) * passes);
}

/// True if the kernel casts the operand dynamically (needs_dynamic_casting in
/// ATen/native/cuda/CUDALoops.cuh): its dtype is not the compute dtype. Masks are not cast, and
/// comparisons compute in the dtype of the first operand.
bool is_converted(const Call& call, const TensorSpec& operand, const TensorSpec& out) {
  const std::string_view op = call.op();
  const bool takes_mask = op == "aten::where" || op.starts_with("aten::masked_fill");
  if (takes_mask && operand.dtype == DType::boolean) return false;
  const bool copies = op.ends_with("copy") || op.ends_with("copy_");
  const TensorSpec* first = call.input(0);
  const bool compares = out.dtype == DType::boolean && !copies && first != nullptr;
  return operand.dtype != (compares ? first->dtype : out.dtype);
}

}  // namespace

std::optional<TimeClass> product_class(DType dtype, const DeviceSpec& device, bool allows_tf32) {
  if (!has_rate(device, name(dtype))) return std::nullopt;
  switch (dtype) {
    case DType::bfloat16:
    case DType::float16:
      return TimeClass::product_16bit;
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
    case DType::int8:
      return TimeClass::product_8bit;
    case DType::float32:
      return allows_tf32 && has_rate(device, "tf32") ? TimeClass::product_tf32
                                                     : TimeClass::product_fp32;
    case DType::float64:
      return TimeClass::product_fp64;
    default:
      return std::nullopt;
  }
}

LaunchEstimate moved(const Cost& cost, TimeClass time_class, double passes, int launches) {
  if (cost.confidence == Confidence::unmodelled) return std::nullopt;
  const std::int64_t bytes = bytes_of(cost, passes);
  if (bytes == 0) return Launches();
  return Launches{{{time_class, StreamWork{bytes}, launches}}};
}

LaunchEstimate at_least(LaunchEstimate launches, std::int64_t bytes) {
  if (!launches || launches->kernels.empty()) return launches;
  auto& moved_bytes = std::get<StreamWork>(launches->kernels[0].work).bytes;
  moved_bytes = std::max(moved_bytes, bytes);
  return launches;
}

LaunchEstimate by_rows(const Cost& cost, TimeClass time_class, std::int64_t rows,
                       std::int64_t length, double passes, int launches) {
  if (cost.confidence == Confidence::unmodelled) return std::nullopt;
  const std::int64_t bytes = bytes_of(cost, passes);
  if (bytes == 0) return Launches();
  return Launches{{{time_class, RowWork{rows, length, bytes}, launches}}};
}

LaunchEstimate launches_nothing(const Call&, const Cost&, const DeviceSpec&) { return Launches(); }

LaunchEstimate draws(const Call&, const Cost& cost, const DeviceSpec& device) {
  return moved(cost, device.is_cpu ? TimeClass::random : TimeClass::elementwise);
}

LaunchEstimate waiting(LaunchEstimate launches) {
  if (launches) launches->waits = true;
  return launches;
}

namespace {

bool has_gaps(const TensorSpec& tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.strides.size(); ++i)
    last += (tensor.sizes[i] - 1) * tensor.strides[i];
  return !tensor.strides.empty() && last + 1 != numbers(tensor);
}

}  // namespace

std::int64_t bytes_one_by_one(const TensorSpec& out, const DeviceSpec& device) {
  return bytes_at_rate(device, numbers(out), "elementwise.one_by_one_per_clock");
}

std::int64_t bytes_one_by_one(const Call& call, const TensorSpec& out, const DeviceSpec& device) {
  bool is_one_by_one = has_gaps(out);
  for (const TensorRecord& operand : call.record().inputs) {
    const TensorSpec* spec = call.spec(operand);
    // A host scalar is a kernel argument.
    if (is_one_by_one || spec == nullptr || !call.lies_on_device(operand)) continue;
    is_one_by_one = is_converted(call, *spec, out) || spec->sizes != out.sizes ||
                    (!spec->strides.empty() && spec->strides != out.strides);
  }
  return is_one_by_one ? bytes_one_by_one(out, device) : 0;
}

std::int64_t bytes_of_clocks(const DeviceSpec& device, double clocks) {
  if (device.is_cpu || !device.clock_hz || !device.memory_bytes_per_second) return 0;
  return std::llround(clocks / *device.clock_hz * *device.memory_bytes_per_second *
                      clocks_of(device, "dram.reached"));
}

double clocks_of(const DeviceSpec& device, std::string_view key) {
  if (!device.kernel_clocks) return 0;
  if (const auto found = device.kernel_clocks->find(key); found != device.kernel_clocks->end())
    return found->second;
  throw Error(device.name, fmt::format("its table of kernel clocks has no '{}'", key),
              "Compare with devices/clocks/h200.json.");
}

std::int64_t bytes_at_rate(const DeviceSpec& device, std::int64_t numbers, std::string_view key) {
  const double per_clock = clocks_of(device, key);
  if (per_clock == 0) return 0;
  return bytes_of_clocks(device,
                         static_cast<double>(numbers) / (device.multiprocessors * per_clock));
}

std::int64_t bytes_across(const TensorSpec& tensor, const DeviceSpec& device) {
  const std::int64_t number_bytes = element_bytes(tensor.dtype);
  return 2 * numbers(tensor) *
         (device.is_cpu ? number_bytes : std::max<std::int64_t>(number_bytes, 4));
}

bool has_channels_last(const TensorSpec& tensor) {
  return tensor.strides.size() > 2 && tensor.sizes[1] > 1 && tensor.strides[1] == 1;
}

bool keeps_rows(const TensorSpec& in, const TensorSpec& out) {
  if (in.sizes != out.sizes || in.strides.empty() || out.strides.empty()) return false;
  for (std::size_t i = 0; i < in.sizes.size(); ++i)
    if (in.sizes[i] > 1 && in.strides[i] == 1 && out.strides[i] == 1) return true;
  return false;
}

std::int64_t numbers(const TensorSpec& tensor) {
  std::int64_t product = 1;
  for (const std::int64_t size : tensor.sizes) product *= size;
  return product;
}

}  // namespace symprof::profile
