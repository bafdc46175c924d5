// The recurrent cells that cuDNN fuses.
#pragma once

#include <cstdint>

namespace symprof::kernels {

/// The values of cudnnRNNMode_t, as `_cudnn_rnn` takes them.
enum class Cell : std::int64_t { relu, tanh, lstm, gru };

/// How many gates a cell has. Each has a matrix for the input, one for the hidden state, and two
/// biases.
constexpr std::int64_t gates(Cell cell) {
  if (cell == Cell::lstm) return 4;
  return cell == Cell::gru ? 3 : 1;
}

/// A layer's weights are two matrices, two biases if it has them, and a projection's matrix.
constexpr bool has_biases(std::int64_t weights_per_layer) { return weights_per_layer >= 4; }

/// Elements that cuDNN's buffer of all weights has for biases, two for each gate, although the
/// layers have none; 0 where they have some. Each direction is a layer of its own.
constexpr std::int64_t absent_biases(Cell cell, std::int64_t weights_per_layer, std::int64_t hidden,
                                     std::int64_t layers) {
  return has_biases(weights_per_layer) ? 0 : 2 * gates(cell) * hidden * layers;
}

}  // namespace symprof::kernels
