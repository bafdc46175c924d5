// Softmax and its relatives: one fused kernel, counted as one operation for each element, like an
// activation function.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule softmax_rows[] = {
    {"aten::_softmax", per_output<1>, modelled},
    {"aten::_softmax_backward_data", per_output<1>, modelled},
    {"aten::_log_softmax", per_output<1>, modelled},
    {"aten::_log_softmax_backward_data", per_output<1>, modelled},
    {"aten::softmax", per_output<1>, modelled},
    {"aten::log_softmax", per_output<1>, modelled},
    {"aten::_safe_softmax", per_output<1>, modelled},
    {"aten::_masked_softmax", per_output<1>, modelled},
    {"aten::_masked_softmax_backward", per_output<1>, modelled},
};

}  // namespace

Rules softmax_rules() { return softmax_rows; }

}  // namespace symprof::profile
