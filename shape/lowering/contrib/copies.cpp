// com.microsoft: duplicates and predecessors of default-domain operators, collectives, and a few
// operators that are one ATen call.
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/unbacked_size.h"

namespace symprof::lowering {
namespace {

/// The default-domain operator with the same name, inputs and attributes.
Tensors same_as_onnx(OnnxCall& call) {
  const std::string_view op = call.node.op;
  return find_lowering("onnx::" + std::string(op.substr(op.rfind(':') + 1)))->run(call);
}

/// The step is optional.
Tensors range(OnnxCall& call) {
  Tensors inputs = call.inputs;
  inputs.resize(3);
  for (at::Tensor& input : inputs)
    if (input.defined()) input = input.reshape({});
  if (!inputs[2].defined()) inputs[2] = at::ones({}, host_options(call.input(0).scalar_type()));
  OnnxCall inner{call.node, call.graph, std::move(inputs), call.device};
  return find_lowering("onnx::Range")->run(inner);
}

/// Unique elements in order of first appearance, the inverse indices, and the counts.
Tensors unique(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (!values_of(x).defined()) unbacked_size(call, x.numel(), "how many values differ");
  const auto [sorted, places, counts] =
      at::_unique2(x, /*sorted=*/true, /*return_inverse=*/true, /*return_counts=*/true);
  const at::Tensor index = at::arange(x.numel(), places.options());
  const at::Tensor first = at::full({sorted.numel()}, x.numel(), places.options())
                               .scatter_reduce(0, places.flatten(), index, "amin");
  const at::Tensor order = at::argsort(first);
  const at::Tensor rank =
      at::empty_like(order).scatter(0, order, at::arange(order.numel(), order.options()));
  return {sorted.index_select(0, order), rank.index_select(0, places.flatten()),
          counts.index_select(0, order)};
}

Tensors expand_dims(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::unsqueeze(x, checked_axis(call, call.integer_of(1), x.dim() + 1))};
}

/// Without the check for singular matrices, which synchronizes with the device.
Tensors inverse(OnnxCall& call) { return {std::get<0>(at::linalg_inv_ex(call.input(0)))}; }

Tensors embedding(OnnxCall& call) {
  const at::Tensor& table = call.input(0);
  return {at::embedding(table, to_device_of(call.input(1), table))};
}

Tensors unfold(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t axis = checked_axis(call, call.integer("dim", -1), x.dim());
  return {x.unfold(axis, call.integer("size", 1), call.integer("step", 1)).contiguous()};
}

/// onnxruntime/core/graph/contrib_ops/collective_defs.cc; NCCL needs contiguous tensors.
at::Tensor collective(const char* name, std::vector<c10::IValue> stack) {
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  dispatcher.findSchemaOrThrow(name, "").callBoxed(stack);
  dispatcher.findSchemaOrThrow("_c10d_functional::wait_tensor", "").callBoxed(stack);
  return stack.at(0).toTensor();
}

Tensors all_reduce(OnnxCall& call) {
  Tensors sums;
  for (const at::Tensor& part : call.inputs)
    sums.push_back(collective("_c10d_functional::all_reduce", {part.contiguous(), "sum", "onnx"}));
  return sums;
}

/// The parts are gathered along dimension 0 first.
Tensors all_gather(OnnxCall& call) {
  const at::Tensor& part = call.input(0);
  const std::int64_t ranks = call.integer("group_size", 1);
  const std::int64_t axis = checked_axis(call, call.integer("axis", 0), part.dim());
  const at::Tensor all =
      collective("_c10d_functional::all_gather_into_tensor", {part.contiguous(), ranks, "onnx"});
  return {axis == 0 ? all : at::cat(at::chunk(all, ranks, 0), axis)};
}

/// Exchanges equal parts of dimension 0, one per rank.
Tensors all_to_all(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const std::int64_t ranks = call.integer("group_size", 1);
  if (ranks < 1 || x.dim() == 0 || x.size(0) % ranks != 0)
    call.fail(fmt::format("{} ranks and the shape [{}]", ranks, fmt::join(x.sizes(), ", ")),
              "Wanted: a first dimension that the ranks divide.");
  const Integers parts(static_cast<std::size_t>(ranks), x.size(0) / ranks);
  return {
      collective("_c10d_functional::all_to_all_single", {x.contiguous(), parts, parts, "onnx"})};
}

/// The last dimensions, which are the signal.
Integers signal_axes(const OnnxCall& call, std::int64_t rank) {
  const std::int64_t count = call.integer("signal_ndim", 1);
  if (count < 1 || count > rank) call.fail(fmt::format("signal_ndim {} of rank {}", count, rank));
  if (call.integer("onesided", 1) == 0 || call.is_set("normalized"))
    call.fail("a two-sided or normalized transform", "Wanted: onesided 1 and normalized 0.");
  Integers axes;
  for (std::int64_t i = rank - count; i < rank; ++i) axes.push_back(i);
  return axes;
}

Tensors real_fourier(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  return {at::view_as_real(at::fft_rfftn(x, std::nullopt, signal_axes(call, x.dim())))};
}

Tensors inverse_real_fourier(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  if (x.dim() < 2 || x.size(-1) != 2)
    call.fail(fmt::format("[{}]", fmt::join(x.sizes(), ", ")),
              "Wanted: real and imaginary parts in the last dimension.");
  const at::Tensor y = at::view_as_complex(x.contiguous());
  return {at::fft_irfftn(y, std::nullopt, signal_axes(call, y.dim()))};
}

/// Pairs (real, imaginary) in the last dimension.
template <bool conjugate>
Tensors complex_product(OnnxCall& call) {
  const at::Tensor a = at::view_as_complex(call.input(0).contiguous());
  const at::Tensor b = at::view_as_complex(to_device_of(call.input(1), a).contiguous());
  return {at::view_as_real(at::mul(a, conjugate ? at::conj(b).resolve_conj() : b))};
}

/// The sample positions of a crop of `size`, as fractions of the image, [boxes, size]; a single
/// sample is at the center.
at::Tensor sampled_at(const at::Tensor& begin, const at::Tensor& end, std::int64_t size) {
  if (size == 1) return at::mul(at::add(begin, end), 0.5).unsqueeze(1);
  const at::Tensor steps = at::div(at::arange(size, begin.options()), size - 1);
  return at::add(begin.unsqueeze(1), at::mul(at::sub(end, begin).unsqueeze(1), steps));
}

/// Converts fractions of an image to grid_sampler's coordinates with aligned corners: -1 is the
/// center of the first pixel, 1 of the last. The nearest pixel rounds half up here, half to even in
/// grid_sampler.
at::Tensor to_grid(const at::Tensor& part, std::int64_t pixels, bool nearest) {
  if (!nearest || pixels == 1) return at::sub(at::mul(part, 2), 1);
  const auto last = static_cast<double>(pixels - 1);
  const at::Tensor pixel = at::floor(at::add(at::mul(part, last), 0.5));
  return at::sub(at::mul(pixel, 2 / last), 1);
}

at::Tensor is_outside(const at::Tensor& part) {
  return at::logical_or(at::lt(part, 0), at::gt(part, 1));
}

/// Crops boxes [count, (y1, x1, y2, x2)] out of images and resizes them; samples outside of the
/// image get the extrapolation value.
Tensors crop_and_resize(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const Integers size = call.integers_of(3);
  const std::string mode = call.text("mode", "bilinear");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1 || x.dim() != 4 ||
      (mode != "bilinear" && mode != "nearest"))
    call.fail(fmt::format("mode '{}' and {} sizes of [{}]", mode, size.size(),
                          fmt::join(x.sizes(), ", ")));
  const bool nearest = mode == "nearest";
  const at::Tensor boxes = to_device_of(call.input(1), x);
  const at::Tensor images = at::index_select(x, 0, to_device_of(call.input(2), x));
  const auto edge = [&](std::int64_t i) { return at::select(boxes, 1, i); };
  const at::Tensor rows = sampled_at(edge(0), edge(2), size[0]).unsqueeze(2);
  const at::Tensor columns = sampled_at(edge(1), edge(3), size[1]).unsqueeze(1);
  const Integers places{boxes.size(0), size[0], size[1]};
  const at::Tensor grid = at::stack({to_grid(columns, x.size(3), nearest).expand(places),
                                     to_grid(rows, x.size(2), nearest).expand(places)},
                                    -1);
  const at::Tensor y = at::grid_sampler(images, grid, nearest ? 1 : 0, /*padding_mode=*/1,
                                        /*align_corners=*/true);
  const at::Tensor outside = at::logical_or(is_outside(rows), is_outside(columns));
  return {y.masked_fill(outside.unsqueeze(1), call.real("extrapolation_value", 0.0))};
}

/// True if all elements of all inputs are finite; attributes restrict the check to NaN or infinity.
Tensors is_all_finite(OnnxCall& call) {
  at::Tensor all;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const at::Tensor& x = call.input(i);
    const at::Tensor good = call.is_set("isnan_only")   ? at::logical_not(at::isnan(x))
                            : call.is_set("isinf_only") ? at::logical_not(at::isinf(x))
                                                        : at::isfinite(x);
    all = all.defined() ? at::logical_and(all, at::all(good)) : at::all(good);
  }
  if (!all.defined()) call.fail("no inputs");
  return {all};
}

/// Scores of tokens that would repeat n tokens of a row become minus infinity.
Tensors without_repeats(OnnxCall& call) {
  const at::Tensor &ids = call.input(0), &scores = call.input(1);
  const std::int64_t n = call.integer("ngram_size", 0);
  if (n < 1 || ids.dim() != 2 || scores.dim() != 2)
    call.fail(fmt::format("ngram_size {} for tokens [{}]", n, fmt::join(ids.sizes(), ", ")));
  if (ids.size(1) < n) return {scores};
  const at::Tensor groups = to_device_of(ids, scores).unfold(1, n, 1);
  const at::Tensor last = at::slice(groups, 1, -1).slice(2, 1);  // The n - 1 tokens at the end.
  const at::Tensor first = at::slice(groups, 2, 0, n - 1);
  const at::Tensor same = at::all(at::eq(first, last), -1);
  const at::Tensor banned = at::zeros(scores.sizes(), ids.options().device(scores.device()))
                                .scatter_add(1, at::select(groups, 2, n - 1), same.to(at::kLong));
  return {scores.masked_fill(at::gt(banned, 0), -std::numeric_limits<double>::infinity())};
}

/// Distances between the rows of A and of B.
Tensors distances(OnnxCall& call) {
  const std::string metric = call.text("metric", "sqeuclidean");
  if (metric != "euclidean" && metric != "sqeuclidean")
    call.fail("the metric '" + metric + "'", "Wanted: euclidean or sqeuclidean.");
  const at::Tensor y = at::cdist(call.input(0), call.input(1));
  return {metric == "euclidean" ? y : at::mul(y, y)};
}

constexpr Lowering copies_rows[] = {
    {"com.microsoft::AllGather", all_gather},
    {"com.microsoft::AllReduce", all_reduce},
    {"com.microsoft::AllToAll", all_to_all},
    {"com.microsoft::CDist", distances},
    {"com.microsoft::ComplexMul", complex_product<false>},
    {"com.microsoft::ComplexMulConj", complex_product<true>},
    {"com.microsoft::CropAndResize", crop_and_resize},
    {"com.microsoft::DequantizeLinear", same_as_onnx},
    {"com.microsoft::ExpandDims", expand_dims},
    {"com.microsoft::GatherND", same_as_onnx},
    {"com.microsoft::GridSample", same_as_onnx},
    {"com.microsoft::Inverse", inverse},
    {"com.microsoft::Irfft", inverse_real_fourier},
    {"com.microsoft::IsAllFinite", is_all_finite},
    {"com.microsoft::LayerNormalization", same_as_onnx},
    {"com.microsoft::NGramRepeatBlock", without_repeats},
    {"com.microsoft::Pad", same_as_onnx},
    {"com.microsoft::QuantizeLinear", same_as_onnx},
    {"com.microsoft::Range", range},
    {"com.microsoft::Rfft", real_fourier},
    {"com.microsoft::SampleOp", [](OnnxCall& call) { return Tensors{call.input(0)}; }},
    {"com.microsoft::TorchEmbedding", embedding},
    {"com.microsoft::Trilu", same_as_onnx},
    {"com.microsoft::UnfoldTensor", unfold},
    {"com.microsoft::Unique", unique},
};

}  // namespace

Lowerings microsoft_copies_lowerings() { return copies_rows; }

}  // namespace symprof::lowering
