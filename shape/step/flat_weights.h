// Flattened weights of recurrent layers, contiguous in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// With cuDNN, the weights of nn.LSTM, nn.GRU and nn.RNN are views of one buffer:
/// flatten_parameters (torch/nn/modules/rnn.py) creates it when the module moves to the device.
class FlatWeights {
 public:
  explicit FlatWeights(const Graph& graph);

  /// The parameter as a view of its layer's buffer, which is created with the first view; undefined
  /// for any other value.
  at::Tensor part(const Graph& graph, ValueId value);

 private:
  struct Part {
    std::size_t layer;
    std::int64_t offset;
  };
  struct Layer {
    std::int64_t elements = 0;
    at::Tensor buffer;
  };

  void add_layer(const Graph& graph, const std::vector<ValueId>& weights);

  std::vector<Layer> layers_;
  std::unordered_map<ValueId, Part> parts_;
};

}  // namespace symprof::shape
