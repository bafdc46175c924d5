// Tells if the calls of a step may differ from those of the model's own code.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof {

enum class OtherCallsReason : std::uint8_t {
  none,          ///< No sign of it.
  onnx,          ///< The exporter wrote calls as ONNX operators: one call as several, or in place.
  masks,         ///< Attention masks that the model's own code may not pass.
  training,      ///< They write to buffers, as code that runs only in training does.
  saving,        ///< The step trains, and ONNX operators may save other tensors than the model's.
  saving_masks,  ///< The step trains with `masks`, and attention saves them.
  functions,     ///< The step trains through the model's own torch.autograd.Functions.
  names,         ///< The step trains, and a trace's variables seem to raise the peak.
};

/// Why the peak of a step, and in training its saved tensors, may differ from those of the model's
/// own code. In training, autograd holds most memory: only saved tensors matter, and lifetimes of
/// variables that a trace does not show.
struct OtherCalls {
  OtherCallsReason reason = OtherCallsReason::none;
  /// For `saving`: the distinct ONNX operators ("Softmax"), in order, that the exporter may have
  /// written for different PyTorch calls.
  std::vector<std::string> operators;

  bool may_differ() const { return reason != OtherCallsReason::none; }
  /// True if the saved bytes may differ too.
  bool may_save_others() const {
    return reason == OtherCallsReason::saving || reason == OtherCallsReason::saving_masks ||
           reason == OtherCallsReason::functions;
  }
  /// True if lifetimes of variables are guessed.
  bool guesses_names() const { return reason == OtherCallsReason::names; }
  /// True if the peak is not a lower bound: the model's own code may save less, or keep less alive,
  /// although values may also live longer than the file shows.
  bool is_no_bound() const { return may_save_others() || guesses_names(); }
  /// True if the peak may also be too low.
  bool may_miss() const { return reason == OtherCallsReason::saving; }
};

namespace profile {

OtherCalls other_calls(const Recording& recording);

/// Margin to add to `peak_bytes`, the peak of the recorded step (PeakUncertainty::peak_bytes), if
/// the step may save other tensors than the model's: a quarter of the peak without parameters,
/// buffers and optimizer states. It sufficed in 79 of 83 steps of 28 models
/// (docs/evaluation/foreign_held_out.md), on which it was chosen, and in 131 of 136 of other models
/// (docs/evaluation/foreign.md).
std::int64_t other_calls_margin_bytes(const Recording& recording, std::int64_t peak_bytes);

}  // namespace profile
}  // namespace symprof
