// Pooling over one to three spatial dimensions.
#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/windows.h"

namespace symprof::lowering {
namespace {

Window pooling_window(const OnnxCall& call) {
  const auto kernel = call.integers("kernel_shape");
  if (!kernel) call.fail("no kernel_shape");
  return read_window(call, *kernel, call.input(0).sizes());
}

[[noreturn]] void fail_rank(const OnnxCall& call) {
  call.fail(fmt::format("an input of rank {}", call.input(0).dim()), "Wanted: 3 to 5.");
}

/// The smallest value of a type; MaxPool accepts two integer types.
at::Scalar least_value(at::ScalarType type) {
  if (at::isFloatingType(type)) return -std::numeric_limits<double>::infinity();
  return type == at::kChar ? std::numeric_limits<std::int8_t>::min() : 0;
}

Tensors max_pool(OnnxCall& call) {
  at::Tensor x = call.input(0);
  Window window = pooling_window(call);
  if (needs_explicit_pads(window)) x = pad_explicitly(x, window, least_value(x.scalar_type()));
  const bool ceil_mode = call.is_set("ceil_mode");
  const auto run = [&](auto plain, auto with_indices) -> Tensors {
    if (!call.wants_output(1))
      return {plain(x, window.kernel, window.strides, window.begins, window.dilations, ceil_mode)};
    auto [y, indices] =
        with_indices(x, window.kernel, window.strides, window.begins, window.dilations, ceil_mode);
    // PyTorch's indices count within a plane, ONNX's within the whole tensor.
    const std::int64_t planes = x.size(0) * x.size(1);
    Integers sizes(static_cast<std::size_t>(x.dim()), 1);
    sizes[0] = x.size(0), sizes[1] = x.size(1);
    const at::Tensor offsets = at::arange(planes, at::device(x.device()).dtype(at::kLong))
                                   .mul(x.numel() / std::max<std::int64_t>(planes, 1));
    at::Tensor in_plane = indices;
    if (call.is_set("storage_order") &&
        x.dim() == 4) {  // Column-major: the first axis runs fastest.
      const std::int64_t h = x.size(2), w = x.size(3);
      in_plane = at::add(at::mul(at::remainder(indices, w), h), at::div(indices, w, "floor"));
    }
    return {y, at::add(in_plane, offsets.reshape(sizes))};
  };
  switch (x.dim()) {
    case 3:
      return run(at::max_pool1d, at::max_pool1d_with_indices);
    case 4:
      return run(at::max_pool2d, at::max_pool2d_with_indices);
    case 5:
      return run(at::max_pool3d, at::max_pool3d_with_indices);
    default:
      fail_rank(call);
  }
}

at::Tensor average(const at::Tensor& x, const Window& w, bool ceil_mode) {
  if (x.dim() == 3) return at::avg_pool1d(x, w.kernel, w.strides, w.begins, ceil_mode);
  if (x.dim() == 4) return at::avg_pool2d(x, w.kernel, w.strides, w.begins, ceil_mode);
  return at::avg_pool3d(x, w.kernel, w.strides, w.begins, ceil_mode);
}

/// Limit for window elements along one axis.
constexpr std::int64_t most_counted = std::int64_t{1} << 28;

/// The number of elements in each window's average, as a tensor that broadcasts with the result.
/// Padding counts if the node says so; elements added by ceil_mode do not.
at::Tensor window_counts(const at::Tensor& x, const Window& window, const Integers& outputs,
                         bool count_pads) {
  at::Tensor counts = at::ones({}, host_options(at::kFloat));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::int64_t size = x.size(static_cast<std::int64_t>(i) + 2);
    const std::int64_t first = count_pads ? -window.begins[i] : 0;
    const std::int64_t last = count_pads ? size + window.ends[i] : size;
    if (outputs[i] > most_counted / window.kernel[i])
      throw Error("", fmt::format("{} windows of {} elements", outputs[i], window.kernel[i]),
                  "Wanted: sizes of a model.");
    Integers along;
    for (std::int64_t at = 0; at < outputs[i]; ++at) {
      std::int64_t inside = 0;
      for (std::int64_t k = 0; k < window.kernel[i]; ++k) {
        const std::int64_t place =
            at * window.strides[i] - window.begins[i] + k * window.dilations[i];
        inside += place >= first && place < last ? 1 : 0;
      }
      along.push_back(inside);
    }
    counts = at::mul(counts.unsqueeze(-1), host_integers(along));
  }
  return to_device_of(counts.to(x.scalar_type()), x);
}

/// PyTorch has no dilated average pooling: the sum of each window divided by its element count.
at::Tensor dilated_average(const at::Tensor& x, const Window& window, bool ceil_mode,
                           bool count_pads) {
  const Integers outputs = count_windows(window, x.sizes(), ceil_mode);
  return at::div(sum_windows(x, window, ceil_mode), window_counts(x, window, outputs, count_pads));
}

Tensors average_pool(OnnxCall& call) {
  at::Tensor x = call.input(0);
  Window window = pooling_window(call);
  const bool ceil_mode = call.is_set("ceil_mode"), count_pads = call.is_set("count_include_pad");
  for (const std::int64_t dilation : window.dilations)
    if (dilation != 1) return {dilated_average(x, window, ceil_mode, count_pads)};
  if (needs_explicit_pads(window)) {
    if (!count_pads) {  // Average over existing elements: average of x by average of ones.
      Window copy = window;
      const at::Tensor ones = pad_explicitly(at::ones_like(x), copy, 0);
      x = pad_explicitly(x, window, 0);
      return {at::div(average(x, window, ceil_mode), average(ones, window, ceil_mode))};
    }
    x = pad_explicitly(x, window, 0);
  }
  switch (x.dim()) {
    case 3:
      return {
          at::avg_pool1d(x, window.kernel, window.strides, window.begins, ceil_mode, count_pads)};
    case 4:
      return {
          at::avg_pool2d(x, window.kernel, window.strides, window.begins, ceil_mode, count_pads)};
    case 5:
      return {
          at::avg_pool3d(x, window.kernel, window.strides, window.begins, ceil_mode, count_pads)};
    default:
      fail_rank(call);
  }
}

Tensors global_average_pool(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  switch (x.dim()) {
    case 3:
      return {at::adaptive_avg_pool1d(x, 1)};
    case 4:
      return {at::adaptive_avg_pool2d(x, {1, 1})};
    case 5:
      return {at::adaptive_avg_pool3d(x, {1, 1, 1})};
    default:
      fail_rank(call);
  }
}

Tensors global_max_pool(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  switch (x.dim()) {
    case 3:
      return {std::get<0>(at::adaptive_max_pool1d(x, 1))};
    case 4:
      return {std::get<0>(at::adaptive_max_pool2d(x, {1, 1}))};
    case 5:
      return {std::get<0>(at::adaptive_max_pool3d(x, {1, 1, 1}))};
    default:
      fail_rank(call);
  }
}

constexpr Lowering pooling_rows[] = {
    {"onnx::AveragePool", average_pool},
    {"onnx::GlobalAveragePool", global_average_pool},
    {"onnx::GlobalMaxPool", global_max_pool},
    {"onnx::MaxPool", max_pool},
};

}  // namespace

Lowerings pooling_lowerings() { return pooling_rows; }

}  // namespace symprof::lowering
