#include "trace/onnx/lowering/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace symprof::trace::onnx {
namespace {

Integers list_of(const OnnxCall& call, std::string_view attribute, std::size_t length,
                 std::int64_t otherwise) {
  Integers values = call.integers(attribute).value_or(Integers(length, otherwise));
  if (values.size() != length)
    call.fail(fmt::format("{} {} for {} spatial dimensions", values.size(), attribute,
                          attribute == "pads" ? length / 2 : length));
  return values;
}

}  // namespace

Window read_window(const OnnxCall& call, Integers kernel, at::IntArrayRef input_sizes) {
  const std::size_t rank = kernel.size();
  if (input_sizes.size() != rank + 2)
    call.fail(
        fmt::format("an input of rank {} for a kernel of {} dimensions", input_sizes.size(), rank),
        "Wanted: batch, channels and the spatial dimensions.");
  Window window{std::move(kernel),
                list_of(call, "strides", rank, 1),
                list_of(call, "dilations", rank, 1),
                {},
                {}};
  const std::string auto_pad = call.text("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) {
    const Integers pads = list_of(call, "pads", 2 * rank, 0);
    const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
    window.begins.assign(pads.begin(), middle);
    window.ends.assign(middle, pads.end());
    return window;
  }
  window.begins = window.ends = Integers(rank, 0);
  if (auto_pad == "VALID") return window;
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
    call.fail("auto_pad '" + auto_pad + "'", "Wanted: NOTSET, VALID, SAME_UPPER or SAME_LOWER.");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = input_sizes[i + 2], stride = window.strides[i];
    if (stride < 1) call.fail(fmt::format("a stride of {}", stride));
    const std::int64_t outputs = (size + stride - 1) / stride;
    const std::int64_t reach =
        (outputs - 1) * stride + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(reach - size, 0);
    const std::int64_t smaller = total / 2;
    window.begins[i] = auto_pad == "SAME_UPPER" ? smaller : total - smaller;
    window.ends[i] = total - window.begins[i];
  }
  return window;
}

at::Tensor pad_explicitly(const at::Tensor& x, Window& window, const at::Scalar& value) {
  Integers pairs;
  for (std::size_t i = window.kernel.size(); i-- > 0;) {
    pairs.push_back(window.begins[i]);
    pairs.push_back(window.ends[i]);
  }
  window.begins = window.ends = Integers(window.kernel.size(), 0);
  return at::constant_pad_nd(x, pairs, value);
}

}  // namespace symprof::trace::onnx
