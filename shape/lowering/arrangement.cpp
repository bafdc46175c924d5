// Concatenation, slicing, repetition and padding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

Tensors concat(OnnxCall& call) {
  Tensors parts = call.inputs;
  const auto on_device = std::find_if(parts.begin(), parts.end(), [](const at::Tensor& part) {
    return part.defined() && !is_real(part);
  });
  if (on_device != parts.end())
    for (at::Tensor& part : parts) part = to_device_of(part, *on_device);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), call.input(0).dim());
  return {at::cat(parts, axis)};
}

/// Splits into the given sizes, or into equal parts, one per output (the last one smaller).
Tensors split(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  if (const auto given = axes_of(call, 1, "split")) {
    const Integers& sizes = *given;
    if (std::count(sizes.begin(), sizes.end(), sizes.empty() ? 0 : sizes.front()) ==
            static_cast<std::int64_t>(sizes.size()) &&
        !sizes.empty() && sizes.front() > 0)
      return at::split(x, sizes.front(), axis);
    return at::split_with_sizes(x, sizes, axis);
  }
  const auto parts =
      call.integer("num_outputs", static_cast<std::int64_t>(call.node.outputs.size()));
  if (parts < 1) call.fail(fmt::format("{} parts", parts));
  return at::split(x, std::max<std::int64_t>((x.size(axis) + parts - 1) / parts, 1), axis);
}

/// Concatenates a list of tensors along an existing axis or a new one.
Tensors concat_from_sequence(OnnxCall& call) {
  const bool stacks = call.is_set("new_axis");
  const std::int64_t rank = call.input(0).dim() + (stacks ? 1 : 0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), rank);
  return {stacks ? at::stack(call.inputs, axis) : at::cat(call.inputs, axis)};
}

/// Returns a list of parts; the reader turns its elements into outputs if possible. A scalar is the
/// size of each part.
Tensors split_to_sequence(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), x.dim());
  if (!call.has(1)) {
    if (call.integer("keepdims", 1) == 0) return at::unbind(x, axis);
    return at::split(x, 1, axis);
  }
  if (call.input(1).dim() == 0) return at::split(x, call.integer_of(1), axis);
  return at::split_with_sizes(x, call.integers_of(1), axis);
}

/// A negative step along one axis, which no view in PyTorch has.
at::Tensor slice_backwards(const OnnxCall& call, const at::Tensor& x, std::int64_t axis,
                           std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t size = x.size(axis);
  if (step == std::numeric_limits<std::int64_t>::min()) call.fail("the step is too small");
  if (start < 0) start += size;
  if (end < 0 && end >= -size) end += size;
  start = std::clamp<std::int64_t>(start, -1, size - 1);
  end = std::clamp<std::int64_t>(end, -1, size - 1);
  // In the flipped tensor element i is element size - 1 - i.
  return at::slice(x.flip({axis}), axis, size - 1 - start,
                   std::max(size - 1 - end, size - 1 - start), -step);
}

Tensors slice(OnnxCall& call) {
  at::Tensor x = call.input(0);
  const bool attributes = call.opset() < 10;
  const Integers starts =
      attributes ? call.integers("starts").value_or(Integers{}) : call.integers_of(1);
  const Integers ends =
      attributes ? call.integers("ends").value_or(Integers{}) : call.integers_of(2);
  const Integers steps = call.has(4) ? call.integers_of(4) : Integers(starts.size(), 1);
  Integers axes(starts.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  if (const auto given = axes_of(call, 3)) axes = *given;
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    call.fail(fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                          axes.size(), steps.size()));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = checked_axis(call, axes[i], x.dim());
    if (steps[i] == 0) call.fail("a step of 0");
    x = steps[i] > 0 ? at::slice(x, axis, starts[i], ends[i], steps[i])
                     : slice_backwards(call, x, axis, starts[i], ends[i], steps[i]);
  }
  return {x};
}

Tensors tile(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers repeats = call.integers_of(1);
  if (static_cast<std::int64_t>(repeats.size()) != x.dim())
    call.fail(fmt::format("{} repeats for a tensor of rank {}", repeats.size(), x.dim()));
  return {x.repeat(repeats)};
}

/// ONNX lists all begins, then all ends; PyTorch lists pairs, from the last dimension on.
Integers pytorch_pads(const OnnxCall& call, std::int64_t rank) {
  // An attribute before opset 11, with another name before opset 2.
  const Integers pads =
      axes_of(call, 1, call.opset() < 2 ? "paddings" : "pads").value_or(Integers{});
  Integers axes(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  if (call.has(3)) axes = call.integers_of(3);
  if (pads.size() != 2 * axes.size())
    call.fail(fmt::format("{} pads for {} axes; wanted two for each", pads.size(), axes.size()));
  Integers pairs(2 * static_cast<std::size_t>(rank), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto from_last = static_cast<std::size_t>(rank - 1 - checked_axis(call, axes[i], rank));
    pairs[2 * from_last] = pads[i];
    pairs[2 * from_last + 1] = pads[i + axes.size()];
  }
  while (pairs.size() >= 2 && pairs.back() == 0 && pairs[pairs.size() - 2] == 0)
    pairs.resize(pairs.size() - 2);
  return pairs;
}

/// Modes other than constant take pads for all spatial dimensions: [(N,) C, W], [N, C, H, W] or [N,
/// C, D, H, W] (aten/src/ATen/native/PadNd.cpp, _pad_enum_symint).
Integers whole_pads(Integers pads, std::int64_t rank) {
  const std::int64_t spatial = std::max<std::int64_t>(rank - 2, 1);
  pads.resize(std::max(pads.size(), static_cast<std::size_t>(2 * spatial)), 0);
  return pads;
}

Tensors pad(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers pads = pytorch_pads(call, x.dim());
  const std::string mode = call.text("mode", "constant");
  if (pads.empty()) return {x};
  if (mode == "constant") {
    const at::Scalar fill =
        call.has(2) ? at::Scalar(call.real_of(2)) : at::Scalar(call.real("value", 0));
    return {at::constant_pad_nd(x, pads, fill)};
  }
  const std::string name = mode == "edge" ? "replicate" : mode == "wrap" ? "circular" : mode;
  if (name != "reflect" && name != "replicate" && name != "circular")
    call.fail("the mode '" + mode + "'", "Wanted: constant, reflect, edge or wrap.");
  return {at::pad(x, whole_pads(pads, x.dim()), name)};
}

/// [N, C, H, W] with blocks of b: channels move into space, in the order of the mode.
Tensors depth_to_space(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t b = call.integer("blocksize", 0);
  if (x.dim() != 4 || b < 1 || x.size(1) % (b * b) != 0)
    call.fail(fmt::format("blocks of {} in [{}]", b, fmt::join(x.sizes(), ", ")),
              "Wanted: [N, C, H, W] with C a multiple of the block's area.");
  if (call.text("mode", "DCR") == "CRD") return {at::pixel_shuffle(x, b)};
  const std::int64_t n = x.size(0), c = x.size(1) / (b * b), h = x.size(2), w = x.size(3);
  return {x.reshape({n, b, b, c, h, w}).permute({0, 3, 4, 1, 5, 2}).reshape({n, c, h * b, w * b})};
}

Tensors space_to_depth(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t b = call.integer("blocksize", 0);
  if (x.dim() != 4 || b < 1 || x.size(2) % b != 0 || x.size(3) % b != 0)
    call.fail(fmt::format("blocks of {} in [{}]", b, fmt::join(x.sizes(), ", ")),
              "Wanted: [N, C, H, W] with H and W multiples of the block.");
  if (call.text("mode", "DCR") == "CRD") return {at::pixel_unshuffle(x, b)};
  const std::int64_t n = x.size(0), c = x.size(1), h = x.size(2) / b, w = x.size(3) / b;
  return {x.reshape({n, c, h, b, w, b}).permute({0, 3, 5, 1, 2, 4}).reshape({n, c * b * b, h, w})};
}

Tensors triangle(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t diagonal = call.has(1) ? call.integer_of(1) : 0;
  return {call.integer("upper", 1) != 0 ? at::triu(x, diagonal) : at::tril(x, diagonal)};
}

constexpr Lowering arrangement_rows[] = {
    {"onnx::Concat", concat},
    {"onnx::ConcatFromSequence", concat_from_sequence},
    {"onnx::DepthToSpace", depth_to_space},
    {"onnx::Pad", pad},
    {"onnx::Slice", slice},
    {"onnx::SpaceToDepth", space_to_depth},
    {"onnx::Split", split},
    {"onnx::SplitToSequence", split_to_sequence},
    {"onnx::Tile", tile},
    {"onnx::Trilu", triangle},
};

}  // namespace

Lowerings arrangement_lowerings() { return arrangement_rows; }

}  // namespace symprof::lowering
