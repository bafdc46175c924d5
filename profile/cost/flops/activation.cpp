// Activation functions, dropout and their gradients, each one fused kernel. A kernel with a
// transcendental function counts one operation per element, forward and backward, like flop
// counters that include element-wise work; a short polynomial counts its operations.
#include "profile/cost/flops/families.h"
#include "profile/cost/flops/streaming.h"

namespace symprof::profile {
namespace {

constexpr Rule activation_rows[] = {
    {"aten::relu", per_output<1>},
    {"aten::relu6", per_output<2>},
    {"aten::hardtanh", per_output<2>},
    {"aten::hardtanh_backward", per_output<1>},
    {"aten::threshold", per_output<1>},
    {"aten::threshold_backward", per_output<1>},
    {"aten::leaky_relu", per_output<1>},
    {"aten::leaky_relu_backward", per_output<1>},
    {"aten::rrelu_with_noise", per_output<1>, modelled},
    {"aten::rrelu_with_noise_backward", per_output<1>},
    {"aten::_prelu_kernel", per_output<1>},
    {"aten::_prelu_kernel_backward", per_output<2>, modelled},
    {"aten::gelu", per_output<1>, modelled},
    {"aten::gelu_backward", per_output<1>, modelled},
    {"aten::silu", per_output<1>, modelled},
    {"aten::silu_backward", per_output<1>, modelled},
    {"aten::mish", per_output<1>, modelled},
    {"aten::mish_backward", per_output<1>, modelled},
    {"aten::elu", per_output<1>, modelled},
    {"aten::elu_backward", per_output<1>, modelled},
    {"aten::celu", per_output<1>, modelled},
    {"aten::selu", per_output<1>, modelled},
    {"aten::softplus", per_output<1>, modelled},
    {"aten::softplus_backward", per_output<1>, modelled},
    {"aten::sigmoid", per_output<1>, modelled},
    {"aten::sigmoid_backward", per_output<3>},
    {"aten::tanh", per_output<1>, modelled},
    {"aten::tanh_backward", per_output<3>},
    {"aten::logit", per_output<1>, modelled},
    {"aten::logit_backward", per_output<3>, modelled},
    {"aten::log_sigmoid_forward", per_output<1>, modelled},
    {"aten::log_sigmoid_backward", per_output<1>, modelled},
    {"aten::hardsigmoid", per_output<4>},
    {"aten::hardsigmoid_backward", per_output<1>},
    {"aten::hardswish", per_output<5>},
    {"aten::hardswish_backward", per_output<4>, modelled},
    {"aten::hardshrink", per_output<1>},
    {"aten::hardshrink_backward", per_output<1>},
    {"aten::softshrink", per_output<1>},
    {"aten::softshrink_backward", per_output<1>},
    {"aten::glu", per_output<2>, modelled},
    {"aten::glu_backward", per_output<2>, modelled},
    // Mask and scale; drawing the random numbers is not counted.
    {"aten::native_dropout", per_output<2>, modelled},
    {"aten::native_dropout_backward", per_output<2>},
    {"aten::_fused_dropout", per_output<2>, modelled},
    {"aten::_masked_scale", per_output<2>},
};

}  // namespace

Rules activation_rules() { return activation_rows; }

}  // namespace symprof::profile
