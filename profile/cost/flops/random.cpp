// Random numbers: one operation for each number drawn; the generator's integer arithmetic is not
// counted. In-place ones overwrite their tensor without reading it.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule random_rows[] = {
    {"aten::bernoulli", per_output<1>, modelled},
    {"aten::bernoulli_", overwrites<1>, modelled},
    {"aten::normal", per_output<1>, modelled},
    {"aten::normal_", overwrites<1>, modelled},
    {"aten::normal_functional", generates<1>, modelled},
    {"aten::uniform", overwrites<1>, modelled},
    {"aten::random", overwrites<1>, modelled},
    {"aten::cauchy", overwrites<1>, modelled},
    {"aten::log_normal", overwrites<1>, modelled},
    {"aten::exponential", overwrites<1>, modelled},
    {"aten::geometric", overwrites<1>, modelled},
    {"aten::rand", generates<1>, modelled},
    {"aten::rand_like", generates<1>, modelled},
    {"aten::randn", generates<1>, modelled},
    {"aten::randn_like", generates<1>, modelled},
    {"aten::randint", generates<1>, modelled},
    {"aten::randint_like", generates<1>, modelled},
    {"aten::randperm", generates<1>, modelled},
    {"aten::poisson", per_output<1>, modelled},
    {"aten::binomial", per_output<1>, modelled},
    {"aten::multinomial", per_input<1>, modelled},
    {"aten::_standard_gamma", per_output<1>, modelled},
    {"aten::_standard_gamma_grad", per_output<1>, modelled},
    {"aten::_sample_dirichlet", per_output<1>, modelled},
    {"aten::_dirichlet_grad", per_output<1>, modelled},
    {"aten::_fill_mem_eff_dropout_mask", overwrites<1>, modelled},
};

}  // namespace

Rules random_rules() { return random_rows; }

}  // namespace symprof::profile
