// Batch, layer, group and RMS norm on CUDA: statistics in f32 for f16 and bf16
// (native/cuda/Normalization.cu, cudnn/BatchNorm.cpp, native/cuda/layer_norm_kernel.cu,
// native/group_norm.cpp).
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::IntArrayRef;
using at::Tensor;
using std::optional;
using Three = std::tuple<Tensor, Tensor, Tensor>;

// Input [N, C, ...]; per channel a mean and an inverse deviation, also in evaluation.
Three batch_norm(const Tensor& input, const optional<Tensor>&, const optional<Tensor>&,
                 const optional<Tensor>&, const optional<Tensor>&, bool, double, double) {
  TORCH_CHECK(input.dim() >= 2, "native_batch_norm: found an input of size ", input.sizes(),
              ", wanted at least 2 dimensions");
  const auto dtype = statistics_dtype(input);
  return {at::empty_like(input), fresh({input.size(1)}, input, dtype),
          fresh({input.size(1)}, input, dtype)};
}

Three batch_norm_legit(const Tensor& input, const optional<Tensor>& weight,
                       const optional<Tensor>& bias, Tensor&, Tensor&, bool training,
                       double momentum, double eps) {
  return batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

Three batch_norm_without_statistics(const Tensor& input, const optional<Tensor>& weight,
                                    const optional<Tensor>& bias, bool training, double momentum,
                                    double eps) {
  return batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

Three batch_norm_backward(const Tensor&, const Tensor& input, const optional<Tensor>& weight,
                          const optional<Tensor>&, const optional<Tensor>&, const optional<Tensor>&,
                          const optional<Tensor>&, bool, double, std::array<bool, 3> wanted) {
  const auto dtype = present(weight) ? weight->scalar_type() : statistics_dtype(input);
  return {wanted[0] ? format_like(input) : Tensor(),
          wanted[1] ? fresh({input.size(1)}, input, dtype) : Tensor(),
          wanted[2] ? fresh({input.size(1)}, input, dtype) : Tensor()};
}

// cuDNN keeps statistics for backward only in training, and needs a reserve whose size only
// cudnnGetBatchNormalizationTrainingExReserveSpaceSize gives; it is empty for a normalization
// without activation.
std::tuple<Tensor, Tensor, Tensor, Tensor> cudnn_batch_norm(
    const Tensor& input, const Tensor& weight, const optional<Tensor>&, const optional<Tensor>&,
    const optional<Tensor>&, bool training, double, double) {
  const int64_t kept = training ? input.size(1) : 0;
  return {format_like(input), fresh({kept}, weight), fresh({kept}, weight),
          fresh({0}, input, at::kByte)};
}

Three cudnn_batch_norm_backward(const Tensor& input, const Tensor&, const Tensor& weight,
                                const optional<Tensor>&, const optional<Tensor>&,
                                const optional<Tensor>&, const optional<Tensor>&, double,
                                const Tensor&) {
  return {format_like(input), contiguous_like(weight), contiguous_like(weight)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> batch_norm_with_update(const Tensor& input,
                                                                  const optional<Tensor>& weight,
                                                                  const optional<Tensor>& bias,
                                                                  Tensor&, Tensor&, double momentum,
                                                                  double eps) {
  auto [output, mean, deviation] = batch_norm(input, weight, bias, {}, {}, true, momentum, eps);
  return {output, mean, deviation, fresh({0}, input, at::kByte)};
}

Three batch_norm_backward_with_reserve(const Tensor& grad, const Tensor& input,
                                       const Tensor& weight, const optional<Tensor>& mean,
                                       const optional<Tensor>& var,
                                       const optional<Tensor>& save_mean,
                                       const optional<Tensor>& save_var, bool update, double eps,
                                       std::array<bool, 3> wanted, const Tensor&) {
  return batch_norm_backward(grad, input, weight, mean, var, save_mean, save_var, update, eps,
                             wanted);
}

std::tuple<Tensor, Tensor> batch_norm_update_stats(const Tensor& input, const optional<Tensor>&,
                                                   const optional<Tensor>&, double) {
  const auto dtype = statistics_dtype(input);
  return {fresh({input.size(1)}, input, dtype), fresh({input.size(1)}, input, dtype)};
}

// The sizes before the normalized ones, then ones: [B, L, D] over [D] gives [B, L, 1].
std::vector<int64_t> statistics_sizes(const Tensor& input, IntArrayRef normalized_shape) {
  const auto normalized = static_cast<int64_t>(normalized_shape.size());
  TORCH_CHECK(normalized > 0 && input.dim() >= normalized &&
                  input.sizes().slice(input.dim() - normalized) == normalized_shape,
              "layer_norm: found an input of size ", input.sizes(),
              ", wanted one that ends in normalized_shape=", normalized_shape);
  auto sizes = input.sizes().vec();
  std::fill(sizes.end() - normalized, sizes.end(), 1);
  return sizes;
}

Three layer_norm(const Tensor& input, IntArrayRef normalized_shape, const optional<Tensor>&,
                 const optional<Tensor>&, double) {
  const auto sizes = statistics_sizes(input, normalized_shape);
  const auto dtype = statistics_dtype(input);
  return {contiguous_like(input), fresh(sizes, input, dtype), fresh(sizes, input, dtype)};
}

Three layer_norm_backward(const Tensor&, const Tensor& input, IntArrayRef, const Tensor&,
                          const Tensor&, const optional<Tensor>& weight,
                          const optional<Tensor>& bias, std::array<bool, 3> wanted) {
  return {wanted[0] ? contiguous_like(input) : Tensor(),
          wanted[1] && present(weight) ? contiguous_like(*weight) : Tensor(),
          wanted[2] && present(bias) ? contiguous_like(*bias) : Tensor()};
}

std::tuple<Tensor, Tensor> rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                                    const optional<Tensor>&, optional<double>) {
  return {contiguous_like(input),
          fresh(statistics_sizes(input, normalized_shape), input, statistics_dtype(input))};
}

std::tuple<Tensor, Tensor> rms_norm_backward(const Tensor&, const Tensor& input, IntArrayRef,
                                             const Tensor&, const optional<Tensor>& weight,
                                             std::array<bool, 2> wanted) {
  return {wanted[0] ? contiguous_like(input) : Tensor(),
          wanted[1] && present(weight) ? contiguous_like(*weight) : Tensor()};
}

// Input [N, C, ...], contiguous on CUDA; statistics per sample and group, in f32 only if the
// weights are wider than the input (param_scalar_type in native/group_norm.cpp).
Three group_norm(const Tensor& input, const optional<Tensor>& weight, const optional<Tensor>& bias,
                 int64_t batch, int64_t, int64_t, int64_t groups, double) {
  const auto& parameter = present(weight) ? weight : bias;
  const bool mixed = present(parameter) && parameter->scalar_type() != input.scalar_type();
  const auto dtype = mixed ? at::kFloat : input.scalar_type();
  return {contiguous_like(input), fresh({batch, groups}, input, dtype),
          fresh({batch, groups}, input, dtype)};
}

Three group_norm_backward(const Tensor&, const Tensor& input, const Tensor&, const Tensor&,
                          const optional<Tensor>& weight, int64_t, int64_t channels, int64_t,
                          int64_t, std::array<bool, 3> wanted) {
  const auto dtype = present(weight) ? weight->scalar_type() : input.scalar_type();
  return {wanted[0] ? contiguous_like(input) : Tensor(),
          wanted[1] ? fresh({channels}, input, dtype) : Tensor(),
          wanted[2] ? fresh({channels}, input, dtype) : Tensor()};
}

// w = g * v / norm(v), with the norm over all dimensions but `dim`.
std::vector<int64_t> norm_sizes(const Tensor& v, int64_t dim) {
  std::vector<int64_t> sizes(v.dim(), 1);
  const auto kept = at::maybe_wrap_dim(dim, v.dim());
  sizes[kept] = v.size(kept);
  return sizes;
}

std::tuple<Tensor, Tensor> weight_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  return {contiguous_like(v), fresh(norm_sizes(v, dim), v, statistics_dtype(g))};
}

std::tuple<Tensor, Tensor> weight_norm_backward(const Tensor&, const Tensor& v, const Tensor& g,
                                                const Tensor&, int64_t) {
  return {contiguous_like(v), contiguous_like(g)};
}

}  // namespace

void register_normalization(torch::Library& library) {
  library.impl("native_batch_norm", &batch_norm);
  library.impl("native_batch_norm_backward", &batch_norm_backward);
  library.impl("_native_batch_norm_legit", &batch_norm_legit);
  library.impl("_native_batch_norm_legit.no_stats", &batch_norm_without_statistics);
  library.impl("_batch_norm_with_update", &batch_norm_with_update);
  library.impl("batch_norm_backward", &batch_norm_backward_with_reserve);
  library.impl("batch_norm_update_stats", &batch_norm_update_stats);
  library.impl("cudnn_batch_norm", &cudnn_batch_norm);
  library.impl("cudnn_batch_norm_backward", &cudnn_batch_norm_backward);
  library.impl("native_layer_norm", &layer_norm);
  library.impl("native_layer_norm_backward", &layer_norm_backward);
  library.impl("_fused_rms_norm", &rms_norm);
  library.impl("_fused_rms_norm_backward", &rms_norm_backward);
  library.impl("native_group_norm", &group_norm);
  library.impl("native_group_norm_backward", &group_norm_backward);
  library.impl("_weight_norm_interface", &weight_norm);
  library.impl("_weight_norm_interface_backward", &weight_norm_backward);
}

}  // namespace symprof::kernels
