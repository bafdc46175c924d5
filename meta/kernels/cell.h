// The recurrent cells that cuDNN fuses.
#pragma once

#include <cstdint>

namespace symprof::kernels {

/// The values of cudnnRNNMode_t, as `_cudnn_rnn` takes them.
enum class Cell : std::int64_t { relu, tanh, lstm, gru };

}  // namespace symprof::kernels
