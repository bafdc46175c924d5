// Shapes and views: no data moves, unless a reshape cannot be a view.
#include <ATen/ExpandUtils.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

Tensors identity(OnnxCall& call) { return {call.input(0)}; }

/// The sizes from `start` to `end`, as integers on the host.
Tensors shape(OnnxCall& call) {
  const auto sizes = call.input(0).sizes();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = bound(call.integer("start", 0)),
                     end = bound(call.integer("end", rank));
  if (end <= begin) return {host_integers({})};
  return {host_integers(Integers(sizes.begin() + begin, sizes.begin() + end))};
}

Tensors size(OnnxCall& call) { return {host_integers({call.input(0).numel()}).reshape({})}; }

/// A size of 0 keeps the input's (unless allowzero); -1 is inferred.
Tensors reshape(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  Integers sizes = axes_of(call, 1, "shape").value_or(Integers{});  // An attribute before opset 5.
  for (std::size_t i = 0; i < sizes.size() && !call.is_set("allowzero"); ++i) {
    if (sizes[i] != 0) continue;
    if (static_cast<std::int64_t>(i) >= x.dim())
      call.fail(
          fmt::format("size {} of the shape [{}] copies a dimension that the input of rank {} "
                      "does not have",
                      i, fmt::join(sizes, ", "), x.dim()));
    sizes[i] = x.size(static_cast<std::int64_t>(i));
  }
  return {at::reshape(x, sizes)};
}

Tensors flatten(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  std::int64_t axis = call.integer("axis", 1);
  if (axis < 0) axis += x.dim();
  if (axis < 0 || axis > x.dim()) call.fail(fmt::format("axis {} of rank {}", axis, x.dim()));
  if (axis == 1 && x.dim() > 1) return {at::flatten(x, 1)};
  const std::int64_t rows =
      c10::multiply_integers(x.sizes().slice(0, static_cast<std::size_t>(axis)));
  const std::int64_t columns =
      c10::multiply_integers(x.sizes().slice(static_cast<std::size_t>(axis)));
  return {at::reshape(x, {rows, columns})};
}

Tensors squeeze(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const auto axes = axes_of(call, 1);
  if (!axes) return {at::squeeze(x)};
  for (const std::int64_t axis : *axes)
    if (const auto at = checked_axis(call, axis, x.dim()); x.size(at) != 1)
      call.fail(
          fmt::format("axis {} has the size {}; only an axis of size 1 can go", axis, x.size(at)));
  return {axes->size() == 1 ? at::squeeze(x, axes->front()) : at::squeeze(x, *axes)};
}

/// Axes refer to the result.
Tensors unsqueeze(OnnxCall& call) {
  at::Tensor x = call.input(0);
  Integers axes = axes_of(call, 1).value_or(Integers{});
  const auto rank = x.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = checked_axis(call, axis, rank);
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    call.fail(fmt::format("the axes [{}] repeat", fmt::join(axes, ", ")));
  for (const std::int64_t axis : axes) x = at::unsqueeze(x, axis);
  return {x};
}

Tensors transpose(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  Integers order(static_cast<std::size_t>(x.dim()));
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = x.dim() - 1 - static_cast<std::int64_t>(i);
  order = call.integers("perm").value_or(order);
  if (order == Integers{1, 0} && x.dim() == 2) return {at::t(x)};
  return {at::permute(x, order)};
}

/// Broadcasts in both directions: a size of 1 in the shape keeps the input's size.
Tensors expand(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers sizes = call.integers_of(1);
  if (!at::are_expandable(x.sizes(), sizes))
    call.fail(fmt::format("[{}] does not broadcast with [{}]", fmt::join(x.sizes(), ", "),
                          fmt::join(sizes, ", ")));
  const Integers target = at::infer_size(x.sizes(), sizes);
  return {x.sizes() == at::IntArrayRef(target) ? x : x.expand(target)};
}

constexpr Lowering shape_rows[] = {
    {"onnx::Expand", expand},   {"onnx::Flatten", flatten},     {"onnx::Identity", identity},
    {"onnx::Reshape", reshape}, {"onnx::Shape", shape},         {"onnx::Size", size},
    {"onnx::Squeeze", squeeze}, {"onnx::Transpose", transpose}, {"onnx::Unsqueeze", unsqueeze},
};

}  // namespace

Lowerings shape_lowerings() { return shape_rows; }

}  // namespace symprof::lowering
