#include "shape/recipe/loss.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "meta/fake/convert.h"
#include "shape/recipe/optimizers/optimizers.h"

namespace symprof::shape {
namespace {

at::Tensor target_like(std::vector<std::int64_t> sizes, DType dtype) {
  auto strides = contiguous_strides(sizes);
  return made_tensor({dtype, std::move(sizes), std::move(strides), 0});
}

at::Tensor cross_entropy(const at::Tensor& output) {
  if (output.dim() < 2)
    throw Error(SettingRef{"loss", "cross_entropy"},
                fmt::format("the output has shape [{}]; a class dimension is wanted",
                            fmt::join(output.sizes(), ", ")),
                fmt::format("Use {}, sum or mean.", setting("loss", "ones")));
  const at::Tensor logits = output.dim() == 3 ? output.flatten(0, 1) : output;
  std::vector<std::int64_t> sizes = logits.sizes().vec();
  sizes.erase(sizes.begin() + 1);
  return at::cross_entropy_loss(logits, target_like(sizes, DType::int64));
}

// Targets are fp32 also if autocast computes the output in lower precision.
DType target_dtype(const at::Tensor& output) {
  return at::autocast::is_autocast_enabled(at::kCUDA) ? DType::float32
                                                      : meta::dtype_of(output.scalar_type());
}

at::Tensor scalar_loss(const at::Tensor& output, Loss loss) {
  switch (loss) {
    case Loss::ones:
      break;
    case Loss::sum:
      return output.sum();
    case Loss::mean:
      return output.mean();
    case Loss::cross_entropy:
      return cross_entropy(output);
    case Loss::mse:
      return at::mse_loss(output, target_like(output.sizes().vec(), target_dtype(output)));
  }
  return output;
}

}  // namespace

std::vector<at::Tensor> make_losses(const std::vector<at::Tensor>& outputs, Loss loss) {
  if (loss == Loss::ones) return outputs;
  return {scalar_loss(outputs.front(), loss)};
}

BackwardStart start_backward(std::vector<at::Tensor> roots, Loss loss) {
  BackwardStart start;
  const at::NoGradGuard no_grad;
  for (const at::Tensor& root : roots)
    start.gradients.push_back(loss == Loss::ones ? at::ones_like(root) : at::Tensor());
  start.roots = std::move(roots);
  return start;
}

}  // namespace symprof::shape
