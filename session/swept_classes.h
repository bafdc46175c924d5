// The classes of kernels that a calibration measures.
#pragma once

#include "profile/time/kernel.h"

namespace symprof {

inline constexpr profile::TimeClass swept_on_cpu[] = {
    profile::TimeClass::product_fp32,   profile::TimeClass::convolution_fp32,
    profile::TimeClass::attention_fp32, profile::TimeClass::attention_backward,
    profile::TimeClass::depthwise,      profile::TimeClass::depthwise_cudnn,
    profile::TimeClass::elementwise,    profile::TimeClass::function,
    profile::TimeClass::copy,           profile::TimeClass::batch_norm,
    profile::TimeClass::pooling,        profile::TimeClass::layer_norm,
    profile::TimeClass::softmax,        profile::TimeClass::reduction,
    profile::TimeClass::gather,         profile::TimeClass::sort,
    profile::TimeClass::optimizer,      profile::TimeClass::random};
/// No poolings: on a GPU the class counts clocks per element of the result, and no size of the
/// sweep shows its memory traffic.
inline constexpr profile::TimeClass swept_on_gpu[] = {profile::TimeClass::product_16bit,
                                                      profile::TimeClass::product_fp32,
                                                      profile::TimeClass::convolution_16bit,
                                                      profile::TimeClass::convolution_tf32,
                                                      profile::TimeClass::attention_flash,
                                                      profile::TimeClass::attention_newer,
                                                      profile::TimeClass::attention_fp32,
                                                      profile::TimeClass::depthwise,
                                                      profile::TimeClass::elementwise,
                                                      profile::TimeClass::copy,
                                                      profile::TimeClass::batch_norm,
                                                      profile::TimeClass::batch_norm_rows,
                                                      profile::TimeClass::layer_norm,
                                                      profile::TimeClass::softmax,
                                                      profile::TimeClass::reduction,
                                                      profile::TimeClass::gather,
                                                      profile::TimeClass::sort,
                                                      profile::TimeClass::optimizer,
                                                      profile::TimeClass::transfer};

}  // namespace symprof
