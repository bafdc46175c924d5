#include "profile/time/formula.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"

namespace symprof::profile {
namespace {

using enum TimeClass;

// Maximum-likelihood parameters for the rows that scripts/time/fit.py samples, over all devices.
constexpr ResidualKernel product_process{8, 0.2, 0.06, 1}, attention_process{8, 0.3, 0.06},
    convolution_process{4, 0.15, 0.1, 1}, depthwise_process{2, 0.3, 0.06, 1},
    stream_process{2, 0.06, 0.06}, row_process{3, 0.15, 0.03},
    function_process{2, 0.06, 0.06, 0.35, 100};  // No correlation between functions.

const Formula& row(TimeClass time_class) {
  static const Formula rows[] = {
      {product_16bit, "product_16bit", product_coefficients, product_time, product_sizes,
       product_ways, product_process, product_16bit},
      {product_tf32, "product_tf32", tensor_product_coefficients, product_time, product_sizes,
       product_ways, product_process, product_16bit},
      {product_8bit, "product_8bit", tensor_product_coefficients, product_time, product_sizes,
       product_ways, product_process, product_16bit},
      {product_fp32, "product_fp32", product_coefficients, product_time, product_sizes,
       product_ways, product_process, product_fp32},
      {product_fp64, "product_fp64", product_coefficients, product_time, product_sizes,
       product_ways, product_process, product_fp32},
      {attention_flash, "attention_flash", attention_coefficients, attention_time, attention_sizes,
       nullptr, attention_process, attention_flash},
      {attention_newer, "attention_newer", attention_coefficients, attention_time, attention_sizes,
       nullptr, attention_process, attention_flash},
      {attention_fp32, "attention_fp32", attention_coefficients, attention_time, attention_sizes,
       nullptr, attention_process, attention_flash},
      {convolution_16bit, "convolution_16bit", tensor_convolution_coefficients,
       tensor_convolution_time, convolution_sizes, nullptr, convolution_process, product_16bit},
      {convolution_tf32, "convolution_tf32", tensor_convolution_coefficients,
       tensor_convolution_time, convolution_sizes, nullptr, convolution_process, convolution_16bit},
      {convolution_fp32, "convolution_fp32", convolution_coefficients, convolution_time,
       convolution_sizes, nullptr, convolution_process, convolution_fp32},
      {elementwise, "elementwise", stream_coefficients, stream_time, stream_sizes, nullptr,
       stream_process, elementwise},
      {copy, "copy", stream_coefficients, stream_time, stream_sizes, nullptr, stream_process,
       elementwise},
      {batch_norm, "batch_norm", row_coefficients, row_time, row_sizes, nullptr, row_process,
       layer_norm},
      {batch_norm_native, "batch_norm_native", stream_coefficients, stream_time, stream_sizes,
       nullptr, stream_process, elementwise},
      {pooling, "pooling", stream_coefficients, stream_time, stream_sizes, nullptr, stream_process,
       elementwise},
      {layer_norm, "layer_norm", row_coefficients, row_time, row_sizes, nullptr, row_process,
       layer_norm},
      {softmax, "softmax", row_coefficients, row_time, row_sizes, nullptr, row_process, layer_norm},
      {reduction, "reduction", row_coefficients, row_time, row_sizes, nullptr, row_process,
       layer_norm},
      {gather, "gather", stream_coefficients, stream_time, stream_sizes, nullptr, stream_process,
       elementwise},
      {sort, "sort", stream_coefficients, stream_time, stream_sizes, nullptr, stream_process,
       elementwise},
      {optimizer, "optimizer", stream_coefficients, stream_time, stream_sizes, nullptr,
       stream_process, elementwise},
      {transfer, "transfer", stream_coefficients, stream_time, stream_sizes, nullptr,
       stream_process, elementwise},
      {depthwise, "depthwise", depthwise_coefficients, depthwise_time, depthwise_sizes, nullptr,
       depthwise_process, depthwise},
      {depthwise_cudnn, "depthwise_cudnn", library_depthwise_coefficients, library_depthwise_time,
       depthwise_sizes, nullptr, depthwise_process, depthwise_cudnn},
      {recurrent_16bit, "recurrent_16bit", recurrent_coefficients, recurrent_time, recurrent_sizes,
       nullptr, row_process, recurrent_16bit},
      {recurrent_tf32, "recurrent_tf32", recurrent_coefficients, recurrent_time, recurrent_sizes,
       nullptr, row_process, recurrent_16bit},
      {batch_norm_rows, "batch_norm_rows", row_coefficients, row_time, row_sizes, nullptr,
       row_process, batch_norm},
      {TimeClass::random, "random", stream_coefficients, stream_time, stream_sizes, nullptr,
       stream_process, elementwise},
      {TimeClass::function, "function", function_coefficients, function_time, function_sizes,
       nullptr, function_process, TimeClass::function},
      {attention_backward, "attention_backward", attention_coefficients, attention_time,
       attention_sizes, nullptr, attention_process, attention_backward},
      {rms_norm, "rms_norm", row_coefficients, row_time, row_sizes, nullptr, row_process,
       layer_norm},
  };
  static_assert(std::size(rows) == time_classes);
  return rows[static_cast<int>(time_class)];
}

constexpr std::string_view limit_names[] = {"-",      "arithmetic", "L2",  "memory",
                                            "launch", "link",       "host"};

}  // namespace

const Formula& formula_of(TimeClass time_class) { return row(time_class); }

ResidualKernel residuals_on(const Formula& formula, bool is_cpu) {
  ResidualKernel process = formula.residuals;
  if (!is_cpu) return process;
  process.deviation = 0.5, process.noise = 0.1, process.largest = 2;
  process.length = std::min(process.length, 2.0);
  // Bytes per element distinguish forward from backward, which are different loops on a CPU.
  if (formula.time == row_time) process.last_scale = 15;
  // Operators that share a class are different loops on a CPU.
  if (formula.time == stream_time) process.noise = 0.25;
  return process;
}

std::vector<double> residual_place(const Formula& formula, const Work& work, const Gpu& gpu,
                                   Coefficients coefficients) {
  std::vector<double> place;
  if (formula.ways != nullptr && !gpu.is_cpu)
    place = formula.ways(work, gpu, coefficients, formula.time_class);
  const std::vector<double> sizes = formula.sizes(work);
  place.insert(place.end(), sizes.begin(), sizes.end());
  return place;
}

std::string_view name(TimeClass time_class) { return row(time_class).name; }

std::string_view name(Limit limit) { return limit_names[static_cast<int>(limit)]; }

double pieces(double extent, double size) { return std::ceil(extent / size); }

namespace {

/// Default launch time, if the device's file has none: an empty kernel on an H200
/// (te42kyfo/gpu-benches, gpu-small-kernels).
constexpr double usual_launch_us = 2.4;

double needed(const std::optional<double>& value, const DeviceSpec& device, const char* key) {
  if (value) return *value;
  throw Error("device " + device.name, std::string("its file has no '") + key + "'",
              "Times need it: add it as in the files of devices/, or ask for no times.");
}

/// FLOPs per microsecond at `dtype`; 0 if the device does not support it.
double rate_of(const DeviceSpec& device, std::string_view dtype) {
  for (const auto& [known, rate] : device.flops_per_second)
    if (known == dtype) return rate / 1e6;
  return 0;
}

}  // namespace

Gpu gpu_of(const DeviceSpec& device) {
  Gpu gpu;
  gpu.multiprocessors = device.multiprocessors;
  gpu.clock = needed(device.clock_hz, device, "clock_hz") / 1e6;
  gpu.memory = needed(device.memory_bytes_per_second, device, "memory_bytes_per_second") / 1e6;
  gpu.l2_bytes = needed(device.l2_bytes, device, "l2_bytes");
  gpu.is_cpu = device.is_cpu;
  gpu.is_gddr = device.memory_type == "GDDR";
  gpu.slows_unaligned =
      device.compute_major == 9 && !device.is_cpu;  // Other GPUs were not measured.
  gpu.launch_us = device.is_cpu ? 0 : device.launch_us.value_or(usual_launch_us);
  gpu.link = device.pcie_bytes_per_second.value_or(0) / 1e6;
  const auto set = [&](TimeClass time_class, std::string_view dtype) {
    gpu.rates[static_cast<int>(time_class)] = rate_of(device, dtype);
  };
  for (const TimeClass one :
       {product_16bit, attention_flash, attention_newer, convolution_16bit, recurrent_16bit})
    set(one, "float16");
  for (const TimeClass one : {product_tf32, convolution_tf32, recurrent_tf32}) set(one, "tf32");
  for (const TimeClass one : {product_fp32, attention_fp32, attention_backward, convolution_fp32,
                              depthwise, depthwise_cudnn})
    set(one, "float32");
  set(product_8bit, "float8_e4m3fn");
  set(product_fp64, "float64");
  return gpu;
}

Gpu at_clock(Gpu gpu, double share) {
  gpu.clock *= share;
  for (double& rate : gpu.rates) rate *= share;
  return gpu;
}

}  // namespace symprof::profile
