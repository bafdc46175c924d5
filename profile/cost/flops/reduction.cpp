// Reductions: one operation per input element. Norms square first, variances first compute the mean
// (a pass of sums, then a difference, a square and a sum for each element).
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule reduction_rows[] = {
    {"aten::sum", per_input<1>},
    {"aten::nansum", per_input<1>},
    {"aten::mean", per_input<1>},
    {"aten::nanmean", per_input<1>},
    {"aten::prod", per_input<1>},
    {"aten::max", per_input<1>},
    {"aten::min", per_input<1>},
    {"aten::amax", per_input<1>},
    {"aten::amin", per_input<1>},
    {"aten::aminmax", per_input<2>},
    {"aten::_aminmax", per_input<2>},
    {"aten::argmax", per_input<1>},
    {"aten::argmin", per_input<1>},
    {"aten::any", per_input<1>},
    {"aten::all", per_input<1>},
    {"aten::_is_all_true", per_input<1>},
    {"aten::_is_any_true", per_input<1>},
    {"aten::count_nonzero", per_input<1>},
    {"aten::trace", per_input<1>, modelled},
    {"aten::norm", per_input<2>, modelled},
    {"aten::native_norm", per_input<2>, modelled},
    {"aten::linalg_vector_norm", per_input<2>, modelled},
    {"aten::linalg__powsum", per_input<2>, modelled},
    {"aten::dist", per_input<3>, modelled},
    {"aten::allclose", per_input<4>, modelled},
    {"aten::renorm", per_input<3>, modelled},
    {"aten::var", per_input<4>, modelled},
    {"aten::var_mean", per_input<4>, modelled},
    {"aten::std", per_input<4>, modelled},
    {"aten::std_mean", per_input<4>, modelled},
    {"aten::logsumexp", per_input<3>, modelled},
    {"aten::segment_reduce", per_input<1>, modelled},
    {"aten::_segment_reduce_backward", per_output<1>, modelled},
    {"aten::hash_tensor", per_input<1>, modelled},
};

}  // namespace

Rules reduction_rules() { return reduction_rows; }

}  // namespace symprof::profile
