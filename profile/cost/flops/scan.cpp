// Scans (cumulative sums and extrema): one operation per element, three for log-sum-exp.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule scan_rows[] = {
    {"aten::cumsum", per_input<1>},
    {"aten::cumprod", per_input<1>},
    {"aten::cummax", per_input<1>},
    {"aten::cummin", per_input<1>},
    {"aten::_cummax_helper", per_input<1>},
    {"aten::_cummin_helper", per_input<1>},
    {"aten::logcumsumexp", per_input<3>, modelled},
    {"aten::_logcumsumexp", per_input<3>, modelled},
};

}  // namespace

Rules scan_rules() { return scan_rows; }

}  // namespace symprof::profile
