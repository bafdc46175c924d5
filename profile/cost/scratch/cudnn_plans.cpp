#include "profile/cost/scratch/cudnn_plans.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/checked.h"
#include "profile/cost/scratch/precision.h"
#include "profile/cost/scratch/scratch.h"

namespace symprof::profile {

std::int64_t places_of(const TensorSpec& tensor) {
  return std::accumulate(tensor.sizes.begin() + 2, tensor.sizes.end(), std::int64_t{1},
                         std::multiplies<>());
}

bool is_plain_product(const PlannedConvolution& c) {
  return places_of(c.weight) == 1 && places_of(c.input) == places_of(c.output);
}

namespace {

/// Bytes with the channels (dimension 1) rounded up; needed only in half precision.
Count padded_bytes(const TensorSpec& tensor) {
  constexpr std::int64_t lanes = 8;
  const std::int64_t channels = tensor.sizes[1];
  const std::int64_t padded =
      is_half(tensor.dtype) ? (channels + lanes - 1) / lanes * lanes : channels;
  return Count(tensor.sizes[0]) * padded * places_of(tensor) * element_bytes(tensor.dtype);
}

/// The first convolution of a network: few channels, small window. Its gradients need copies in
/// half precision.
bool meets_colors(PlanPass pass, const PlannedConvolution& c) {
  constexpr std::int64_t colors = 3, largest_window = 16;
  if (c.input.sizes[1] > colors || c.channels_last) return false;
  const bool is_forward = pass == PlanPass::forward, is_fp32 = !is_half(c.input.dtype);
  if (places_of(c.weight) <= largest_window) return is_forward || is_fp32;
  return is_forward && is_fp32 &&
         places_of(c.input) == places_of(c.output) * places_of(c.weight);  // Patches.
}

/// True if each channel's plane starts at a multiple of 8 bytes for the GEMM.
bool is_aligned_row(const PlannedConvolution& c) {
  constexpr std::int64_t aligned_bytes = 8;
  return c.channels_last || places_of(c.input) * element_bytes(c.input.dtype) % aligned_bytes == 0;
}

Count copied_operands(const PlannedConvolution& c) {
  const Count operands =
      padded_bytes(c.input) + (places_of(c.weight) > 1 ? padded_bytes(c.weight) : Count(0));
  constexpr std::int64_t aligned_bytes = 16;
  if (!c.channels_last) return operands + c.output.bytes();
  return c.input.sizes[1] * element_bytes(c.input.dtype) % aligned_bytes == 0 ? Count(0) : operands;
}

Count weights_of(const PlannedConvolution& c) {
  return Count(c.weight.sizes[0]) * c.weight.sizes[1] * places_of(c.weight);
}

/// Bytes of split-K partial sums: one weight tile per multiprocessor. 0 if there are more than half
/// as many tiles as multiprocessors, and for short sums over the positions of all images: sums up
/// to 1 568 positions were never split, sums from 2 352 on were (truth/h200/kernel_record_2).
Count partial_sums(const PlannedConvolution& c, const DeviceSpec& device) {
  constexpr std::int64_t shortest_split = 2048;
  if (c.output.sizes[0] * places_of(c.output) < shortest_split) return 0;
  constexpr std::int64_t small = 64, large = 128;
  const auto tile = [](std::int64_t channels) { return channels > small ? large : small; };
  const auto tiles_of = [&](std::int64_t channels) {
    return (channels + tile(channels) - 1) / tile(channels);
  };
  const std::int64_t out = c.weight.sizes[0], in = c.weight.sizes[1];
  const Count tiles = Count(tiles_of(out)) * tiles_of(in) * places_of(c.weight);
  const std::int64_t sums = device.multiprocessors / std::max<std::int64_t>(tiles.value(), 1);
  return sums < 2 ? Count(0) : tiles * sums * tile(out) * tile(in) * float_bytes;
}

/// Constant bytes of every fused-attention plan.
constexpr std::int64_t attention_bytes = 256;

bool has_seen(const AttentionSizes& sizes, const DeviceSpec& device) {
  constexpr std::int64_t widest = 128;
  return device.cudnn_copies_operands && std::max(sizes.width, sizes.value_width) <= widest;
}

/// Gates per step, and per-layer elements besides the steps, in units of one direction's output at
/// one step: forward in one direction and in two, backward in one and in two.
struct RecurrentForm {
  std::int64_t gates, one, both, back_one, back_both;
};

constexpr RecurrentForm form_of(RecurrentKind kind) {
  if (kind == RecurrentKind::lstm) return {4, 10, 24, 11, 26};
  return kind == RecurrentKind::gru ? RecurrentForm{3, 5, 14, 5, 14}
                                    : RecurrentForm{1, 3, 10, 5, 14};
}

/// Elements that the forward pass allocates over all time steps: results, inputs and gates (with
/// one direction, gates of at most 256 time steps).
Count recurrent_forward(const RecurrentSizes& s) {
  constexpr std::int64_t steps_with_gates = 256;
  const RecurrentForm form = form_of(s.kind);
  const Count all = Count(s.steps) * s.batch, layer = Count(s.batch) * s.hidden * s.layers;
  if (s.directions == 1) {
    const std::int64_t results = s.has_dropout ? 2 : 1;
    return layer * form.one + all * (results * s.hidden + s.width) +
           Count(std::min(s.steps, steps_with_gates)) * s.batch * s.hidden * form.gates;
  }
  constexpr std::int64_t others = 6;
  return layer * form.both + all * ((2 * form.gates + others) * s.hidden + s.width);
}

/// Elements that the backward pass holds: gradients of results and of inputs. With several layers
/// in one direction, which take turns, one buffer covers only some steps: 16 to 48 were observed,
/// except for fewer than 8 sequences.
Count recurrent_backward(const RecurrentSizes& s) {
  const RecurrentForm form = form_of(s.kind);
  const Count all = Count(s.steps) * s.batch, layer = Count(s.batch) * s.hidden * s.layers;
  const std::int64_t widest = std::max(s.width, s.hidden);
  if (s.directions == 2) {
    const std::int64_t inner = s.layers > 1 ? 8 : 6;
    return layer * form.back_both + all * (inner * s.hidden + 2 * s.width + 4 * widest);
  }
  constexpr std::int64_t steps_in_turn = 24, fewest_sequences = 8;
  const bool takes_turns = s.layers > 1 && s.batch >= fewest_sequences;
  const std::int64_t kept = takes_turns ? std::min(s.steps, steps_in_turn) : s.steps;
  return layer * form.back_one + all * (2 * s.hidden + 2 * s.width + widest) +
         Count(kept) * s.batch * s.hidden;
}

/// Elements of all weight matrices. A layer's first matrix multiplies the input, or the outputs of
/// both directions of the previous layer.
Count recurrent_weights(const RecurrentSizes& s) {
  const Count rows = Count(s.directions) * form_of(s.kind).gates * s.hidden;
  const std::int64_t deeper = (s.layers - 1) * s.hidden * (s.directions + 1);
  return rows * (s.width + s.hidden + deeper);
}

/// The largest hidden size for which PyTorch requests cuDNN's small-hidden algorithm in fp32.
std::int64_t smallest_hidden(RecurrentKind kind) { return kind == RecurrentKind::rnn ? 384 : 192; }

}  // namespace

std::optional<std::int64_t> recurrent_workspace_bytes(const RecurrentSizes& sizes,
                                                      std::int64_t element_bytes,
                                                      const DeviceSpec& device) {
  if (!device.cudnn_copies_operands || sizes.steps < 1) return std::nullopt;
  if (element_bytes == float_bytes && sizes.hidden <= smallest_hidden(sizes.kind))
    return std::nullopt;
  constexpr std::int64_t of_a_product = 8 << 20, alignment = 512;
  Count numbers = recurrent_forward(sizes);
  if (sizes.is_training) numbers = std::max(numbers, recurrent_backward(sizes));
  return (Count(sizes.layers) * sizes.directions * of_a_product + alignment +
          (numbers + recurrent_weights(sizes)) * element_bytes)
      .value();
}

std::int64_t plan_workspace_bytes(PlanPass pass, const PlannedConvolution& c,
                                  const DeviceSpec& device) {
  if (!device.cudnn_copies_operands || c.groups != 1 || meets_colors(pass, c)) return 0;
  const Count copies = copied_operands(c);
  if (is_plain_product(c) && is_aligned_row(c)) {
    if (pass != PlanPass::weight_gradient) return 0;
    const Count of_images = Count(c.input.sizes[0]) * weights_of(c) * float_bytes;
    if (!c.channels_last && of_images < copies) return of_images.value();
  }
  return (pass == PlanPass::weight_gradient ? copies + partial_sums(c, device) : copies).value();
}

std::optional<std::int64_t> attention_workspace_bytes(const AttentionSizes& sizes,
                                                      const DeviceSpec& device) {
  if (!has_seen(sizes, device)) return std::nullopt;
  return attention_bytes;
}

std::optional<std::int64_t> attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                               std::int64_t element_bytes,
                                                               const DeviceSpec& device) {
  if (!has_seen(sizes, device)) return std::nullopt;
  const Count heads = Count(sizes.batch) * sizes.heads;
  Count total = heads * sizes.length * (sizes.width + 1) * float_bytes + attention_bytes;
  if (sizes.key_heads != sizes.heads)
    total += heads * sizes.key_length * (sizes.width + sizes.value_width) * element_bytes;
  return total.value();
}

}  // namespace symprof::profile
