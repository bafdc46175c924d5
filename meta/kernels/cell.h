// The recurrent cells that cuDNN fuses.
#pragma once

#include <cstdint>

namespace symprof::kernels {

/// The values of cudnnRNNMode_t, as `_cudnn_rnn` takes them.
enum class Cell : std::int64_t { relu, tanh, lstm, gru };

/// The number of gates of a cell. Each has a matrix for the input, one for the hidden state, and
/// two biases.
constexpr std::int64_t gates(Cell cell) {
  if (cell == Cell::lstm) return 4;
  return cell == Cell::gru ? 3 : 1;
}

/// A layer's weights are two matrices, optionally two biases, and a projection matrix.
constexpr bool has_biases(std::int64_t weights_per_layer) { return weights_per_layer >= 4; }

/// Elements that cuDNN's weight buffer reserves for biases, two per gate, if the layers have none;
/// 0 if they have biases. Each direction is a layer of its own.
constexpr std::int64_t absent_biases(Cell cell, std::int64_t weights_per_layer, std::int64_t hidden,
                                     std::int64_t layers) {
  return has_biases(weights_per_layer) ? 0 : 2 * gates(cell) * hidden * layers;
}

}  // namespace symprof::kernels
