// Sorting, top-k and order statistics.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule sorting_rows[] = {
    {"aten::sort", sorts, modelled},          {"aten::argsort", sorts, modelled},
    {"aten::msort", sorts, modelled},         {"aten::topk", per_input<1>, modelled},
    {"aten::median", per_input<1>, modelled}, {"aten::nanmedian", per_input<1>, modelled},
    {"aten::mode", per_input<1>, modelled},   {"aten::kthvalue", per_input<1>, modelled},
};

}  // namespace

Rules sorting_rules() { return sorting_rows; }

}  // namespace symprof::profile
