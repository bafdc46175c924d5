// The recurrent cells that cuDNN fuses.
#pragma once

#include <cstdint>

namespace symprof::kernels {

/// The values of cudnnRNNMode_t, as `_cudnn_rnn` takes them.
enum class Cell : std::int64_t { relu, tanh, lstm, gru };

/// Each has a matrix for the input, one for the hidden state, and two biases.
constexpr std::int64_t gates(Cell cell) {
  if (cell == Cell::lstm) return 4;
  return cell == Cell::gru ? 3 : 1;
}

}  // namespace symprof::kernels
