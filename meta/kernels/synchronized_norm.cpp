// Synchronized batch norm over several processes: each computes its statistics, gathers all of
// them, and normalizes (native/cuda/Normalization.cu, Normalization.cuh). Channels are dimension 1.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"

namespace symprof::kernels {
namespace {

using at::Tensor;
using std::optional;
using Two = std::tuple<Tensor, Tensor>;

void check_channels(const Tensor& input) {
  TORCH_CHECK(input.dim() >= 2, "batch_norm: found an input of size ", input.sizes(),
              ", wanted at least 2 dimensions");
}

// Mean and inverse deviation of this process.
Two statistics(const Tensor& input, double) {
  check_channels(input);
  const auto dtype = statistics_dtype(input);
  return {fresh({input.size(1)}, input, dtype), fresh({input.size(1)}, input, dtype)};
}

// Combines the means and inverse deviations [processes, C] of all processes into one pair.
Two gathered(const Tensor& mean) {
  const auto dtype = statistics_dtype(mean);
  return {fresh({mean.size(1)}, mean, dtype), fresh({mean.size(1)}, mean, dtype)};
}

Two gather_statistics(const Tensor&, const Tensor& mean, const Tensor&, const optional<Tensor>&,
                      const optional<Tensor>&, double, double, int64_t) {
  return gathered(mean);
}

Two gather_statistics_with_counts(const Tensor&, const Tensor& mean, const Tensor&,
                                  const optional<Tensor>&, const optional<Tensor>&, double, double,
                                  const Tensor&) {
  return gathered(mean);
}

Tensor normalize(const Tensor& input, const optional<Tensor>&, const optional<Tensor>&,
                 const Tensor&, const Tensor&, double) {
  return at::empty_like(input);
}

// Sums of the gradient, and of its product with the centered input; gradients of weight and bias.
std::tuple<Tensor, Tensor, Tensor, Tensor> backward_sums(const Tensor& grad, const Tensor&,
                                                         const Tensor& mean, const Tensor&,
                                                         const optional<Tensor>& weight,
                                                         bool input_wanted, bool weight_wanted,
                                                         bool bias_wanted) {
  check_channels(grad);
  const auto parameter = [&](bool wanted) {
    return wanted ? fresh({grad.size(1)}, present(weight) ? *weight : mean) : Tensor();
  };
  return {input_wanted ? at::empty_like(mean) : Tensor(),
          input_wanted ? at::empty_like(mean) : Tensor(), parameter(weight_wanted),
          parameter(bias_wanted)};
}

Tensor backward_elements(const Tensor&, const Tensor& input, const Tensor&, const Tensor&,
                         const optional<Tensor>&, const Tensor&, const Tensor&, const Tensor&) {
  return format_like(input);
}

}  // namespace

void register_synchronized_norm(torch::Library& library) {
  library.impl("batch_norm_stats", &statistics);
  library.impl("batch_norm_gather_stats", &gather_statistics);
  library.impl("batch_norm_gather_stats_with_counts", &gather_statistics_with_counts);
  library.impl("batch_norm_elemt", &normalize);
  library.impl("batch_norm_backward_reduce", &backward_sums);
  library.impl("batch_norm_backward_elemt", &backward_elements);
}

}  // namespace symprof::kernels
