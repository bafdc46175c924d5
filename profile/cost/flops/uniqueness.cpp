// Unique elements of a tensor.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule uniqueness_rows[] = {
    {"aten::unique_dim", sorts, modelled},
    {"aten::_unique2", sorts, modelled},
    {"aten::_unique", sorts, modelled},
    {"aten::unique_consecutive", per_input<1>, modelled},
    {"aten::unique_dim_consecutive", per_input<1>, modelled},
};

}  // namespace

Rules uniqueness_rules() { return uniqueness_rows; }

}  // namespace symprof::profile
