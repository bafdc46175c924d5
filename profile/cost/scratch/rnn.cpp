// Recurrent layers: a workspace of cuDNN while a pass runs (native/cudnn/RNN.cpp). The backward
// pass takes it once for the input gradients and once for the weight gradients.
#include "profile/cost/scratch/cudnn_plans.h"
#include "profile/cost/scratch/families.h"
#include "profile/cost/scratch/layout.h"

namespace symprof::profile {
namespace {

/// (input, weight[], weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers,
/// batch_first, dropout, train, bidirectional, batch_sizes, …); the backward operator has four more
/// before `mode`.
constexpr int mode_at = 6, backward_mode_at = 10;

/// cudnnRNNMode_t in cudnn_adv.h: RELU, TANH, LSTM, GRU.
RecurrentKind kind_of_mode(std::int64_t mode) {
  constexpr std::int64_t lstm = 2, gru = 3;
  if (mode == lstm) return RecurrentKind::lstm;
  return mode == gru ? RecurrentKind::gru : RecurrentKind::rnn;
}

/// True if the call reads cuDNN's dropout state.
bool has_dropout_state(const Call& call, int mode) {
  constexpr int behind_mode = 9;
  return call.input_at(mode + behind_mode) != nullptr;
}

/// nullopt for packed sequences and projections, whose workspaces were not observed.
std::optional<RecurrentSizes> recurrent_sizes(const Call& call, int mode) {
  const TensorSpec* input = call.input_at(0);
  constexpr std::size_t sequences = 3;
  const auto number = [&](int behind) { return call.integer(mode + behind, 0, 0); };
  if (input == nullptr || input->sizes.size() != sequences || number(2) != 0) return std::nullopt;
  RecurrentSizes sizes;
  sizes.kind = kind_of_mode(number(0));
  const bool batch_first = number(4) != 0;
  sizes.steps = input->sizes[batch_first ? 1 : 0], sizes.batch = input->sizes[batch_first ? 0 : 1];
  sizes.width = input->sizes[2], sizes.hidden = number(1), sizes.layers = number(3);
  sizes.directions = number(7) != 0 ? 2 : 1;
  sizes.is_training = number(6) != 0;
  sizes.has_dropout = sizes.is_training && has_dropout_state(call, mode);
  return sizes;
}

/// cudnnDropoutGetStatesSize has no public formula: on an H200 it is a state of cuRAND's XORWOW (48
/// bytes, curand_kernel.h) for each of 1 024 threads of each multiprocessor. 0 for devices without
/// observations, whose calls are incomplete.
std::int64_t dropout_state_bytes(const DeviceSpec& device) {
  constexpr std::int64_t threads = 1024, state_bytes = 48;
  return device.cudnn_copies_operands ? device.multiprocessors * threads * state_bytes : 0;
}

template <int mode>
Scratch workspace(const Call& call, const DeviceSpec& device) {
  const std::optional<RecurrentSizes> sizes = recurrent_sizes(call, mode);
  const std::optional<std::int64_t> bytes =
      sizes ? recurrent_workspace_bytes(*sizes, element_bytes(call.input_at(0)->dtype), device)
            : std::nullopt;
  Scratch result;
  if (has_dropout_state(call, mode)) result.dropout_state_bytes = dropout_state_bytes(device);
  if (!bytes) {
    result.is_incomplete = true;
    return result;
  }
  // cuDNN takes time-major inputs; a batch-first input is copied.
  if (call.integer(mode + 4, 0, 0) != 0 && is_row_major(*call.input_at(0)))
    result.take(call.input_at(0)->bytes());
  result.make_outputs();
  result.take(*bytes);
  return result;
}

/// The reserve for the backward pass is allocated after the workspace.
Scratch forward(const Call& call, const DeviceSpec& device) {
  constexpr std::size_t reserve = 3;
  Scratch result = workspace<mode_at>(call, device);
  result.last_output = reserve;
  return result;
}

constexpr ScratchRule rnn_rows[] = {
    {"aten::_cudnn_rnn", forward},
    {"aten::_cudnn_rnn_backward", workspace<backward_mode_at>},
};

}  // namespace

ScratchRules rnn_scratch() { return rnn_rows; }

}  // namespace symprof::profile
