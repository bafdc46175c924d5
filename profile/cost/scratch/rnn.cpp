// Recurrent layers: their plans and reserves are known to cuDNN alone.
#include "profile/cost/scratch/families.h"

namespace symprof::profile {
namespace {

constexpr ScratchRule rnn_rows[] = {
    {"aten::_cudnn_rnn", unknown_scratch},
    {"aten::_cudnn_rnn_backward", unknown_scratch},
};

}  // namespace

ScratchRules rnn_scratch() { return rnn_rows; }

}  // namespace symprof::profile
