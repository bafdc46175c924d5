// Masked selection: positions where a mask is true.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule masking_rows[] = {
    {"aten::masked_select", gathers, modelled},         {"aten::nonzero", per_input<1>, modelled},
    {"aten::nonzero_static", per_input<1>, modelled},   {"aten::masked_scatter", moves, modelled},
    {"aten::masked_scatter_backward", moves, modelled},
};

}  // namespace

Rules masking_rules() { return masking_rows; }

}  // namespace symprof::profile
