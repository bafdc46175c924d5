#include "shape/loss.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meta/error.h"
#include "meta/fake/convert.h"
#include "meta/fake/fake_tensor.h"

namespace symprof::shape {
namespace {

at::Tensor target_like(std::vector<std::int64_t> sizes, DType dtype) {
  auto strides = contiguous_strides(sizes);
  return meta::make_fake({dtype, std::move(sizes), std::move(strides), 0});
}

at::Tensor cross_entropy(const at::Tensor& output) {
  if (output.dim() < 2)
    throw Error("--loss cross_entropy",
                fmt::format("the output has shape [{}]; a class dimension is wanted",
                            fmt::join(output.sizes(), ", ")),
                "Use --loss ones, sum or mean.");
  const at::Tensor logits = output.dim() == 3 ? output.flatten(0, 1) : output;
  std::vector<std::int64_t> sizes = logits.sizes().vec();
  sizes.erase(sizes.begin() + 1);
  return at::cross_entropy_loss(logits, target_like(sizes, DType::int64));
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
      return at::mse_loss(output,
                          target_like(output.sizes().vec(), meta::dtype_of(output.scalar_type())));
  }
  return output;
}

}  // namespace

BackwardStart start_backward(const std::vector<at::Tensor>& outputs, Loss loss) {
  BackwardStart start;
  if (loss == Loss::ones) {
    const at::NoGradGuard no_grad;
    start.roots = outputs;
    for (const at::Tensor& output : outputs) start.gradients.push_back(at::ones_like(output));
  } else {
    start.roots = {scalar_loss(outputs.front(), loss)};
    start.gradients = {at::Tensor()};
  }
  return start;
}

}  // namespace symprof::shape
