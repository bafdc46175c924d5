// One step of ONNX's RNN, GRU and LSTM, with the features that PyTorch's layers lack.
#pragma once

#include <array>

#include "shape/lowering/lowering.h"

namespace symprof::lowering {

enum class RecurrentKind : std::uint8_t { rnn, gru, lstm };

/// True if PyTorch's layer computes this node: default activations, no clipping, no peepholes, no
/// lengths, no coupled gates, and a GRU that applies the reset gate after the linear step.
bool is_pytorchs(const OnnxCall& call, RecurrentKind kind);

/// The weights of one direction and its activations (ONNX, RNN, GRU and LSTM: equations).
class RecurrentCell {
 public:
  /// Throws Error for an unknown activation.
  RecurrentCell(const OnnxCall& call, RecurrentKind kind, std::int64_t direction);

  /// Takes x [batch, size], hidden and state [batch, hidden size]; returns the next hidden and
  /// state.
  std::pair<at::Tensor, at::Tensor> step(const at::Tensor& x, const at::Tensor& hidden,
                                         const at::Tensor& state) const;

  /// `inside` for sequences longer than `step`, `outside` for the others.
  at::Tensor keep_within_length(std::int64_t step, const at::Tensor& inside,
                                const at::Tensor& outside) const;

 private:
  struct Activation {
    std::string name;
    double alpha = 0, beta = 0;
  };

  void read_activations(std::int64_t direction);
  at::Tensor activate(std::size_t index, const at::Tensor& x) const;
  std::pair<at::Tensor, at::Tensor> lstm(const at::Tensor& x, const at::Tensor& hidden,
                                         const at::Tensor& state) const;
  at::Tensor gru(const at::Tensor& x, const at::Tensor& hidden) const;

  const OnnxCall& call_;
  RecurrentKind kind_;
  at::Tensor weight_, recurrence_, input_bias_, hidden_bias_, peephole_, lengths_;
  std::vector<Activation> activations_;
};

}  // namespace symprof::lowering
