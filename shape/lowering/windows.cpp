#include "shape/lowering/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace symprof::lowering {
namespace {

/// Limit: products of two such numbers fit into 64 bits.
constexpr std::int64_t largest_step = std::int64_t{1} << 30;

Integers list_of(const OnnxCall& call, std::string_view attribute, std::size_t length,
                 std::int64_t otherwise) {
  Integers values = call.integers(attribute).value_or(Integers(length, otherwise));
  if (values.size() != length)
    call.fail(fmt::format("{} {} for {} spatial dimensions", values.size(), attribute,
                          attribute == "pads" ? length / 2 : length));
  return values;
}

/// All windows of the padded input as a view: [batch, channels, windows …, kernel …].
at::Tensor sliding_windows(const at::Tensor& x, Window window, bool ceil_mode) {
  const Integers counts = count_windows(window, x.sizes(), ceil_mode);
  const auto rank = static_cast<std::int64_t>(counts.size());
  const auto reach = [&](std::size_t i) {
    return window.dilations[i] * (window.kernel[i] - 1) + 1;
  };
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t end = (counts[i] - 1) * window.strides[i] + reach(i);
    window.ends[i] =
        std::max(window.ends[i], end - x.size(static_cast<std::int64_t>(i) + 2) - window.begins[i]);
  }
  const Window whole = window;
  at::Tensor views = pad_explicitly(x, window, 0);
  for (std::int64_t i = 0; i < rank; ++i)
    views = views.unfold(i + 2, reach(static_cast<std::size_t>(i)),
                         whole.strides[static_cast<std::size_t>(i)]);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t dilation = whole.dilations[static_cast<std::size_t>(i)];
    if (dilation > 1) views = at::slice(views, i + 2 + rank, 0, std::nullopt, dilation);
  }
  return views;
}

void take_pads(Window& window, const OnnxCall& call) {
  const std::size_t rank = window.kernel.size();
  const Integers pads = list_of(call, "pads", 2 * rank, 0);
  for (const std::int64_t pad : pads)
    if (pad < -largest_step || pad > largest_step) call.fail(fmt::format("a padding of {}", pad));
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.begins.assign(pads.begin(), middle);
  window.ends.assign(middle, pads.end());
}

/// The side of the larger half of an odd padding.
enum class Odd { at_begin, at_end };

/// Pads so that there is one output per stride of the input.
void pad_to_same(Window& window, at::IntArrayRef sizes, Odd odd) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t stride = window.strides[i];
    const std::int64_t outputs = (sizes[i] + stride - 1) / stride;
    const std::int64_t reach =
        (outputs - 1) * stride + (window.kernel[i] - 1) * window.dilations[i] + 1;
    const std::int64_t total = std::max<std::int64_t>(reach - sizes[i], 0);
    const std::int64_t smaller = total / 2;
    window.begins[i] = odd == Odd::at_end ? smaller : total - smaller;
    window.ends[i] = total - window.begins[i];
  }
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
  for (const Integers& list : {window.kernel, window.strides, window.dilations})
    for (const std::int64_t number : list)
      if (number < 1 || number > largest_step)
        call.fail(fmt::format("a kernel, stride or dilation of {}", number));
  const std::string auto_pad = call.text("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) {
    take_pads(window, call);
    return window;
  }
  window.begins = window.ends = Integers(rank, 0);
  if (auto_pad == "VALID") return window;
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER")
    call.fail("auto_pad '" + auto_pad + "'", "Wanted: NOTSET, VALID, SAME_UPPER or SAME_LOWER.");
  pad_to_same(window, input_sizes.slice(2), auto_pad == "SAME_UPPER" ? Odd::at_end : Odd::at_begin);
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

bool needs_explicit_pads(const Window& window) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    if (window.begins[i] > window.kernel[i] / 2) return true;
  return !window.is_symmetric();
}

Integers count_windows(const Window& window, at::IntArrayRef input_sizes, bool ceil_mode) {
  Integers counts;
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t size = input_sizes[i + 2], stride = window.strides[i];
    const std::int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
    const std::int64_t room = size + window.begins[i] + window.ends[i] - reach;
    std::int64_t count = room < 0 ? 0 : room / stride + 1;
    if (ceil_mode && room >= 0 && room % stride != 0 && count * stride < size + window.begins[i])
      ++count;
    counts.push_back(count);
  }
  return counts;
}

at::Tensor sum_windows(const at::Tensor& x, const Window& window, bool ceil_mode) {
  Integers kernel_axes;
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    kernel_axes.push_back(-1 - static_cast<std::int64_t>(i));
  return at::sum(sliding_windows(x, window, ceil_mode), kernel_axes);
}

}  // namespace symprof::lowering
