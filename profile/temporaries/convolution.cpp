// cuDNN chooses a plan at run time and takes the plan's workspace from the allocator for as long as
// the call runs (aten/src/ATen/native/cudnn/Conv_v8.cpp). Only cuDNN knows how much that is.
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

Temporaries plan(const Call&, const DeviceSpec&) { return {.is_incomplete = true}; }

constexpr TemporariesRule rows[] = {
    {"aten::convolution", plan},
    {"aten::convolution_backward", plan},
    {"aten::cudnn_convolution", plan},
    {"aten::cudnn_convolution_transpose", plan},
    {"aten::_convolution", plan},
    {"aten::_cudnn_rnn", plan},
    {"aten::_cudnn_rnn_backward", plan},
    {"aten::cudnn_batch_norm", plan},
    {"aten::cudnn_batch_norm_backward", plan},
};

}  // namespace

TemporariesRules convolution_temporaries() { return rows; }

}  // namespace symprof::profile
