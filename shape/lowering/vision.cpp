// Grids, patches, boxes and unpooling.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/unbacked_size.h"
#include "shape/lowering/windows.h"

namespace symprof::lowering {
namespace {

Tensors affine_grid(OnnxCall& call) {
  return {
      at::affine_grid_generator(call.input(0), call.integers_of(1), call.is_set("align_corners"))};
}

/// Uses the numbers of at::native::GridSamplerInterpolation and GridSamplerPadding.
Tensors grid_sample(OnnxCall& call) {
  const std::string mode = call.text("mode", "linear"),
                    padding = call.text("padding_mode", "zeros");
  const std::int64_t interpolation = mode == "nearest"                      ? 1
                                     : mode == "cubic" || mode == "bicubic" ? 2
                                                                            : 0;
  const std::int64_t border = padding == "border" ? 1 : padding == "reflection" ? 2 : 0;
  return {at::grid_sampler(call.input(0), call.input(1), interpolation, border,
                           call.is_set("align_corners"))};
}

/// A fold (col2im) over any number of dimensions: every element of every block is added at its
/// position in the padded image.
struct Fold {
  Integers image, block, pads, dilations, strides;

  Integers padded() const {
    Integers sizes = image;
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += pads[i] + pads[i + sizes.size()];
    return sizes;
  }
};

/// [elements of a block · blocks]: positions in the flattened padded image.
at::Tensor fold_places(const Fold& fold) {
  const Integers padded = fold.padded();
  at::Tensor places = at::zeros({1, 1}, host_options(at::kLong));
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const std::int64_t reach = fold.dilations[i] * (fold.block[i] - 1) + 1;
    const std::int64_t blocks = (padded[i] - reach) / fold.strides[i] + 1;
    const auto options = host_options(at::kLong);
    const at::Tensor here = (at::arange(fold.block[i], options) * fold.dilations[i]).unsqueeze(1) +
                            at::arange(blocks, options) * fold.strides[i];
    places = places.reshape({places.size(0), 1, places.size(1), 1}) * padded[i] +
             here.reshape({1, fold.block[i], 1, blocks});
    places = places.flatten(2, 3).flatten(0, 1);
  }
  return places.flatten();
}

/// Throws Error unless `x` is [N, C · elements of a block, blocks] and folds into the image.
void check_fold(const OnnxCall& call, const Fold& fold, const at::Tensor& x) {
  constexpr std::int64_t longest = 1 << 30;  // Products of two fit into 64 bits.
  if (x.dim() != 3) call.fail(fmt::format("an input of rank {}; wanted 3", x.dim()));
  for (const Integers* list :
       {&fold.image, &fold.block, &fold.pads, &fold.dilations, &fold.strides})
    for (const std::int64_t number : *list)
      if (number < (list == &fold.pads ? 0 : 1) || number > longest)
        call.fail(fmt::format("a size, block, padding, dilation or stride of {}", number));
  std::int64_t elements = 1, blocks = 1, image = 1;
  const Integers padded = fold.padded();
  for (std::size_t i = 0; i < padded.size(); ++i) {
    const std::int64_t reach = fold.dilations[i] * (fold.block[i] - 1) + 1;
    const std::int64_t count = reach > padded[i] ? 0 : (padded[i] - reach) / fold.strides[i] + 1;
    if (count < 1 || elements > x.size(1) / fold.block[i] || blocks > x.size(2) / count ||
        image > (std::int64_t{1} << 50) / padded[i])
      call.fail(fmt::format("[{}] for blocks of [{}] in an image of [{}]",
                            fmt::join(x.sizes(), ", "), fmt::join(fold.block, ", "),
                            fmt::join(padded, ", ")));
    elements *= fold.block[i], blocks *= count, image *= padded[i];
  }
  if (x.size(1) % elements != 0 || x.size(2) != blocks)
    call.fail(fmt::format("[{}] for {} blocks of {} elements", fmt::join(x.sizes(), ", "), blocks,
                          elements));
}

at::Tensor fold_all(const OnnxCall& call, const Fold& fold) {
  const at::Tensor& x = call.input(0);
  check_fold(call, fold, x);
  const Integers padded = fold.padded();
  const std::int64_t elements = c10::multiply_integers(fold.block);
  const at::Tensor places = fold_places(fold);
  Integers sizes{x.size(0), x.size(1) / elements};
  at::Tensor y = at::zeros({sizes[0], sizes[1], c10::multiply_integers(padded)}, x.options())
                     .index_add(2, to_device_of(places, x), x.reshape({sizes[0], sizes[1], -1}));
  sizes.insert(sizes.end(), padded.begin(), padded.end());
  y = y.reshape(sizes);
  for (std::size_t i = 0; i < padded.size(); ++i)
    if (padded[i] != fold.image[i])
      y = at::slice(y, static_cast<std::int64_t>(i) + 2, fold.pads[i],
                    fold.pads[i] + fold.image[i]);
  return y;
}

/// Two dimensions use PyTorch's col2im; for unequal pads it folds into a larger image, then crops.
Tensors col_to_im(OnnxCall& call) {
  const Integers image = call.integers_of(1);
  const std::size_t rank = image.size();
  const Fold fold{image, call.integers_of(2), call.integers("pads").value_or(Integers(2 * rank, 0)),
                  call.integers("dilations").value_or(Integers(rank, 1)),
                  call.integers("strides").value_or(Integers(rank, 1))};
  if (rank < 1 || fold.block.size() != rank || fold.pads.size() != 2 * rank ||
      fold.dilations.size() != rank || fold.strides.size() != rank)
    call.fail(fmt::format(
        "a block of {} dimensions, {} pads, {} dilations and {} strides for an "
        "image of {} dimensions",
        fold.block.size(), fold.pads.size(), fold.dilations.size(), fold.strides.size(), rank));
  if (rank != 2) return {fold_all(call, fold)};
  const bool symmetric = fold.pads[0] == fold.pads[2] && fold.pads[1] == fold.pads[3];
  const at::Tensor y =
      at::col2im(call.input(0), symmetric ? image : fold.padded(), fold.block, fold.dilations,
                 symmetric ? Integers{fold.pads[0], fold.pads[1]} : Integers{0, 0}, fold.strides);
  if (symmetric) return {y};
  return {at::slice(at::slice(y, 2, fold.pads[0], fold.pads[0] + image[0]), 3, fold.pads[1],
                    fold.pads[1] + image[1])};
}

/// Indices refer to the whole tensor of the pooling's input size; a larger output is padded.
Tensors max_unpool(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  const auto kernel = call.integers("kernel_shape");
  if (!kernel) call.fail("no kernel_shape");
  const Window window = read_window(call, *kernel, x.sizes());
  Integers sizes{x.size(0), x.size(1)};
  for (std::size_t i = 0; i < kernel->size(); ++i)
    sizes.push_back((x.size(static_cast<std::int64_t>(i) + 2) - 1) * window.strides[i] +
                    window.kernel[i] - window.begins[i] - window.ends[i]);
  const Integers wanted = call.has(2) ? call.integers_of(2) : sizes;
  if (wanted.size() != sizes.size()) call.fail(fmt::format("an output shape of {}", wanted.size()));
  at::Tensor y = at::zeros({c10::multiply_integers(sizes)}, x.options())
                     .scatter(0, call.input(1).flatten(), x.flatten())
                     .reshape(sizes);
  Integers pads;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    pads.push_back(0);
    pads.push_back(wanted[i] - sizes[i]);
  }
  return {wanted == sizes ? y : at::constant_pad_nd(y, pads, 0)};
}

/// (sum |x|^p)^(1/p) over windows: the average of the powers times the window size.
Tensors lp_pool(OnnxCall& call) {
  at::Tensor x = call.input(0);
  const auto kernel = call.integers("kernel_shape");
  if (!kernel) call.fail("no kernel_shape");
  Window window = read_window(call, *kernel, x.sizes());
  const double p = static_cast<double>(call.integer("p", 2));
  const bool ceil_mode = call.is_set("ceil_mode");
  const double area = static_cast<double>(c10::multiply_integers(window.kernel));
  x = at::pow(at::abs(x), p);
  const bool dilated = std::any_of(window.dilations.begin(), window.dilations.end(),
                                   [](std::int64_t d) { return d != 1; });
  if (!dilated && needs_explicit_pads(window)) x = pad_explicitly(x, window, 0);
  at::Tensor sums;
  if (dilated) {
    sums = sum_windows(x, window, ceil_mode);
  } else if (x.dim() == 3) {
    sums = at::avg_pool1d(x, window.kernel, window.strides, window.begins, ceil_mode).mul(area);
  } else if (x.dim() == 4) {
    sums = at::avg_pool2d(x, window.kernel, window.strides, window.begins, ceil_mode).mul(area);
  } else {
    sums = at::avg_pool3d(x, window.kernel, window.strides, window.begins, ceil_mode).mul(area);
  }
  return {at::pow(sums, 1.0 / p)};
}

Tensors global_lp_pool(OnnxCall& call) {
  const at::Tensor& x = call.input(0);
  Integers axes;
  for (std::int64_t axis = 2; axis < x.dim(); ++axis) axes.push_back(axis);
  return {at::linalg_vector_norm(x, call.integer("p", 2), axes, /*keepdim=*/true)};
}

using Box = std::array<double, 4>;  // y1, x1, y2, x2, ordered.

Box corners(const at::TensorAccessor<double, 1>& box, bool centered) {
  if (centered)
    return {box[1] - box[3] / 2, box[0] - box[2] / 2, box[1] + box[3] / 2, box[0] + box[2] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]),
          std::max(box[1], box[3])};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (height <= 0 || width <= 0) return 0;
  const auto area = [](const Box& box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  return height * width / (area(a) + area(b) - height * width);
}

/// Batch, class and index of each kept box.
Tensors unknown_boxes(const OnnxCall& call, std::int64_t most) {
  const at::Tensor& scores = call.input(1);
  const std::int64_t kept = std::min(most, scores.size(2)) * scores.size(0) * scores.size(1);
  return {unknown_indices(call, {unbacked_size(call, kept, "how many boxes stay"), 3})};
}

/// Boxes [batch, n, 4], scores [batch, classes, n]: keeps the best boxes, without boxes that
/// overlap a better one.
Tensors non_max_suppression(OnnxCall& call) {
  if (call.input(0).dim() != 3 || call.input(0).size(2) != 4 || call.input(1).dim() != 3 ||
      call.input(1).size(2) != call.input(0).size(1))
    call.fail("boxes or scores of other shapes", "Wanted: [batch, n, 4] and [batch, classes, n].");
  const std::int64_t most = call.has(2) ? call.integer_of(2) : 0;
  if (!is_real(call.input(0)) || !is_real(call.input(1))) return unknown_boxes(call, most);
  const at::Tensor boxes = call.input(0).to(at::kDouble), scores = call.input(1).to(at::kDouble);
  const double limit = call.has(3) ? call.real_of(3) : 0.0;
  const double least = call.has(4) ? call.real_of(4) : -std::numeric_limits<double>::infinity();
  const bool centered = call.is_set("center_point_box");
  Integers found;
  for (std::int64_t batch = 0; batch < scores.size(0); ++batch)
    for (std::int64_t group = 0; group < scores.size(1); ++group) {
      const at::Tensor here = scores[batch][group];
      const at::Tensor order = at::argsort(here, /*stable=*/true, 0, /*descending=*/true);
      const at::Tensor candidates = boxes[batch].contiguous();
      const auto box = candidates.accessor<double, 2>();
      std::vector<Box> kept;
      for (std::int64_t i = 0; i < order.numel(); ++i) {
        const auto index = order[i].item<std::int64_t>();
        if (static_cast<std::int64_t>(kept.size()) >= most) break;
        if (here[index].item<double>() <= least) break;
        const Box next = corners(box[index], centered);
        const bool hidden = std::any_of(kept.begin(), kept.end(),
                                        [&](const Box& b) { return overlap(b, next) > limit; });
        if (hidden) continue;
        kept.push_back(next);
        found.insert(found.end(), {batch, group, index});
      }
    }
  return {host_integers(found).reshape({-1, 3})};
}

constexpr Lowering vision_rows[] = {
    {"onnx::AffineGrid", affine_grid},
    {"onnx::Col2Im", col_to_im},
    {"onnx::GlobalLpPool", global_lp_pool},
    {"onnx::GridSample", grid_sample},
    {"onnx::LpPool", lp_pool},
    {"onnx::MaxUnpool", max_unpool},
    {"onnx::NonMaxSuppression", non_max_suppression},
};

}  // namespace

Lowerings vision_lowerings() { return vision_rows; }

}  // namespace symprof::lowering
