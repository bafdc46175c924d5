// Whether the calls of a step may not be those of the model's own code.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof {

enum class OtherCallsReason : std::uint8_t {
  none,      ///< Nothing says so.
  onnx,      ///< The exporter wrote them with ONNX's operators: one call as several, or in place.
  masks,     ///< Attention masks that the model's own code may leave out.
  training,  ///< They write to buffers, as code does that Python runs in training alone.
  saving,    ///< The step trains, and ONNX's operators may save other values than the model's.
  saving_masks,  ///< The step trains with `masks`, and attention saves them.
  functions,     ///< The step trains what torch.autograd.Functions of the model's own compute.
  names,         ///< The step trains, and a trace's names seem to hold values that add to the peak.
};

/// Why the peak of a step, and in training what it saves, may be others than those of the model's
/// own code. A step that trains has autograd, which holds most: there only what is saved counts,
/// and what names hold where a trace does not tell.
struct OtherCalls {
  OtherCallsReason reason = OtherCallsReason::none;
  /// Of `saving`: the operators of ONNX ("Softmax"), each once, as they come, that the exporter may
  /// have written for other calls of PyTorch.
  std::vector<std::string> operators;

  bool may_differ() const { return reason != OtherCallsReason::none; }
  /// Whether what is saved may be other bytes, too.
  bool may_save_others() const {
    return reason == OtherCallsReason::saving || reason == OtherCallsReason::saving_masks ||
           reason == OtherCallsReason::functions;
  }
  /// Whether it is names that are guessed.
  bool guesses_names() const { return reason == OtherCallsReason::names; }
  /// Whether the peak may be lower whatever else is known of it, as the model's own code may save
  /// less or its names hold less: then it is no lower bound, though values may also be held longer
  /// than the file shows.
  bool is_no_bound() const { return may_save_others() || guesses_names(); }
  /// Whether the peak may be too low, too.
  bool may_miss() const { return reason == OtherCallsReason::saving; }
};

namespace profile {

OtherCalls other_calls(const Recording& recording);

/// What may be missing to `peak_bytes`, the peak of the recorded step (PeakDoubt::peak_bytes),
/// where the step may save other values than the model's: a quarter of what the peak has beside
/// parameters, buffers and the optimizer's states. No more was missing in 79 of 83 steps of 28
/// models (docs/foreign_held_out.md), for which it was chosen, and in 131 of 136 of others
/// (docs/foreign.md).
std::int64_t other_calls_margin_bytes(const Recording& recording, std::int64_t peak_bytes);

}  // namespace profile
}  // namespace symprof
