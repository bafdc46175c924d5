// Histograms: one operation per element.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule histogram_rows[] = {
    {"aten::histc", per_input<1>, modelled},
    {"aten::bincount", per_input<1>, modelled},
    {"aten::histogram", per_input<1>, modelled},
};

}  // namespace

Rules histogram_rules() { return histogram_rows; }

}  // namespace symprof::profile
