// Value-dependent selection and rearrangement: unique elements, masks, sequences, crops.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/unbacked_size.h"

namespace symprof::lowering {
namespace {

/// The value of an omitted axis.
constexpr std::int64_t no_axis = std::numeric_limits<std::int64_t>::min();

/// The slices along the axis (or elements) whose condition is true; slices beyond the conditions
/// are dropped.
Tensors compress(OnnxCall& call) {
  const bool has_axis = call.integer("axis", no_axis) != no_axis;
  const at::Tensor x = has_axis ? call.input(0) : call.input(0).flatten();
  const std::int64_t axis = has_axis ? checked_axis(call, call.integer("axis", 0), x.dim()) : 0;
  if (!values_of(call.input(1)).defined() &&
      (call.value(1) == nullptr || !call.value(1)->constant)) {
    const std::int64_t most = std::min(call.input(1).numel(), x.size(axis));
    const std::int64_t size = unbacked_size(call, most, "how many conditions hold");
    return {at::index_select(x, axis, unknown_indices(call, {size}))};
  }
  const Integers conditions = call.integers_of(1);
  Integers kept;
  for (std::size_t i = 0; i < conditions.size(); ++i)
    if (conditions[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
  return {at::index_select(x, axis, to_device_of(host_integers(kept), x))};
}

/// Unique values, their first positions, inverse indices and counts, for the upper bound of their
/// number.
Tensors unknown_unique(const OnnxCall& call, const at::Tensor& x, std::int64_t axis) {
  const std::int64_t size = unbacked_size(call, x.size(axis), "how many elements differ");
  auto [values, inverse, counts] = at::unique_dim(x, axis, true, true, true);
  return {values, unknown_indices(call, {size}), inverse, counts};
}

/// Unique elements, or slices along an axis: sorted, or in order of first appearance.
Tensors unique(OnnxCall& call) {
  const bool has_axis = call.integer("axis", no_axis) != no_axis;
  const at::Tensor known = values_of(call.input(0));
  const at::Tensor& given = known.defined() ? known : call.input(0);
  const at::Tensor x = has_axis ? given : given.flatten();
  const std::int64_t axis = has_axis ? checked_axis(call, call.integer("axis", 0), x.dim()) : 0;
  if (!is_real(x)) return unknown_unique(call, x, axis);
  auto [values, inverse, counts] =
      at::unique_dim(x, axis, /*sorted=*/true, /*return_inverse=*/true, /*return_counts=*/true);
  // The first position of each: the smallest index that maps to it.
  const at::Tensor places = at::arange(inverse.numel(), host_options(at::kLong));
  at::Tensor first = at::full({values.size(axis)}, inverse.numel(), host_options(at::kLong))
                         .scatter_reduce(0, inverse, places, "amin");
  if (call.integer("sorted", 1) == 0) {
    const at::Tensor order = at::argsort(first);
    values = at::index_select(values, axis, order);
    first = at::index_select(first, 0, order), counts = at::index_select(counts, 0, order);
    inverse = at::index_select(at::argsort(order), 0, inverse);
  }
  return {values, first, inverse, counts};
}

/// Reverses the first `lengths[i]` elements of sequence i; the rest is unchanged.
Tensors reverse_sequence(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t batch = call.integer("batch_axis", 1), time = call.integer("time_axis", 0);
  if (x.dim() < 2 || batch == time || batch < 0 || batch > 1 || time < 0 || time > 1)
    call.fail(fmt::format("batch axis {} and time axis {} of rank {}", batch, time, x.dim()));
  const at::Tensor lengths = to_device_of(call.input(1), x);
  const auto options = at::device(x.device()).dtype(at::kLong);
  const at::Tensor steps = at::arange(x.size(time), options).unsqueeze(batch);
  const at::Tensor ends = lengths.unsqueeze(time);
  at::Tensor index = at::where(at::lt(steps, ends), at::sub(at::sub(ends, steps), 1), steps);
  while (index.dim() < x.dim()) index = index.unsqueeze(-1);
  return {at::gather(x, time, index.expand(x.sizes()))};
}

/// Crops or zero-pads the axes on both sides to the given sizes.
Tensors center_crop_pad(OnnxCall& call) {
  at::Tensor x = call.input(0);
  const Integers sizes = call.integers_of(1);
  Integers axes = call.integers("axes").value_or(Integers{});
  if (axes.empty())
    for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
  if (axes.size() != sizes.size())
    call.fail(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = checked_axis(call, axes[i], x.dim());
    const std::int64_t difference = x.size(axis) - sizes[i];
    if (difference > 0) {
      x = at::slice(x, axis, difference / 2, difference / 2 + sizes[i]);
    } else if (difference < 0) {
      Integers pads(2 * static_cast<std::size_t>(x.dim() - axis), 0);
      const std::int64_t missing = -difference;
      pads[pads.size() - 2] = missing / 2, pads[pads.size() - 1] = missing - missing / 2;
      x = at::constant_pad_nd(x, pads, 0);
    }
  }
  return {x};
}

/// Writes `update` into a cache along the axis, from each batch element's index on.
Tensors tensor_scatter(OnnxCall& call) {
  const at::Tensor& given = call.input(0);
  const at::Tensor past = is_real(given) ? to_device_of(given, call.input(1)) : given;
  const at::Tensor update = to_device_of(call.input(1), past);
  const std::int64_t axis = checked_axis(call, call.integer("axis", -2), past.dim());
  const auto options = at::device(past.device()).dtype(at::kLong);
  const std::int64_t length = update.size(axis);
  at::Tensor places = at::arange(length, options).unsqueeze(0);
  if (call.has(2)) places = at::add(places, to_device_of(call.input(2), past).unsqueeze(1));
  if (call.text("mode", "linear") == "circular") places = at::remainder(places, past.size(axis));
  Integers sizes(static_cast<std::size_t>(past.dim()), 1);
  sizes[0] = places.size(0), sizes[static_cast<std::size_t>(axis)] = length;
  return {at::scatter(past, axis, places.reshape(sizes).expand(update.sizes()), update)};
}

/// Selects columns of the last axis by index (ai.onnx.ml).
Tensors feature_extractor(OnnxCall& call) {
  at::Tensor x = call.input(0);
  if (x.dim() == 1) x = x.unsqueeze(0);
  const at::Tensor columns = to_device_of(call.input(1), x).flatten();
  return {at::index_select(x, x.dim() - 1, columns)};
}

Tensors binarizer(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::gt(x, call.real("threshold", 0.0)).to(x.device(), x.scalar_type())};
}

constexpr Lowering selection_rows[] = {
    {"ai.onnx.ml::ArrayFeatureExtractor", feature_extractor},
    {"ai.onnx.ml::Binarizer", binarizer},
    {"onnx::CenterCropPad", center_crop_pad},
    {"onnx::Compress", compress},
    {"onnx::ReverseSequence", reverse_sequence},
    {"onnx::TensorScatter", tensor_scatter},
    {"onnx::Unique", unique},
};

}  // namespace

Lowerings selection_lowerings() { return selection_rows; }

}  // namespace symprof::lowering
