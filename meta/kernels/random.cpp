// Random draws (native/Distributions.cpp), with the parameters' shape.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "meta/kernels/allocation.h"
#include "meta/kernels/families.h"
#include "meta/kernels/pointwise.h"

namespace symprof::kernels {
namespace {

using at::Generator;
using at::Tensor;
using std::optional;

Tensor multinomial(const Tensor& self, int64_t samples, bool, optional<Generator>) {
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "multinomial: found probabilities of size ",
              self.sizes(), ", wanted 1 or 2 dimensions");
  auto sizes = self.sizes().vec();
  sizes.back() = samples;
  return fresh(sizes, self, at::kLong);
}

Tensor draw(const Tensor& parameter, optional<Generator>) { return contiguous_like(parameter); }

Tensor binomial(const Tensor& count, const Tensor& probability, optional<Generator>) {
  return pointwise({count, probability}, count.scalar_type());
}

Tensor standard_gamma_grad(const Tensor& self, const Tensor& output) {
  return pointwise({self, output});
}

Tensor dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  return pointwise({x, alpha, total});
}

Tensor& permutation_into(int64_t n, optional<Generator>, Tensor& out) {
  return resize_into(out, {n});
}

std::tuple<Tensor, Tensor> fused_dropout(const Tensor& self, double, optional<Generator>) {
  return {at::empty_like(self), at::empty_like(self, self.options().dtype(at::kByte))};
}

Tensor masked_scale(const Tensor& self, const Tensor&, double) { return format_like(self); }

// ---- In place, with parameters in range (native/DistributionTemplates.h)

void check_parameter(bool in_range, const char* op, double found, const char* wanted) {
  TORCH_CHECK(in_range, op, ": found ", found, ", wanted ", wanted);
}

Tensor& cauchy(Tensor& self, double, double sigma, optional<Generator>) {
  check_parameter(sigma > 0, "cauchy_: sigma", sigma, "a positive one");
  return self;
}

Tensor& log_normal(Tensor& self, double, double deviation, optional<Generator>) {
  check_parameter(deviation > 0, "log_normal_: std", deviation, "a positive one");
  return self;
}

Tensor& exponential(Tensor& self, double rate, optional<Generator>) {
  check_parameter(rate > 0, "exponential_: lambd", rate, "a positive one");
  return self;
}

Tensor& geometric(Tensor& self, double probability, optional<Generator>) {
  check_parameter(probability > 0 && probability < 1, "geometric_: p", probability,
                  "one between 0 and 1");
  return self;
}

}  // namespace

void register_random(torch::Library& library) {
  for (const char* op : {"poisson", "_standard_gamma", "_sample_dirichlet"})
    library.impl(op, &draw);
  library.impl("multinomial", &multinomial);
  library.impl("binomial", &binomial);
  library.impl("_standard_gamma_grad", &standard_gamma_grad);
  library.impl("_dirichlet_grad", &dirichlet_grad);
  library.impl("randperm.generator_out", &permutation_into);
  library.impl("cauchy_", &cauchy);
  library.impl("log_normal_", &log_normal);
  library.impl("exponential_", &exponential);
  library.impl("geometric_", &geometric);
  library.impl("_fused_dropout", &fused_dropout);
  library.impl("_masked_scale", &masked_scale);
}

}  // namespace symprof::kernels
