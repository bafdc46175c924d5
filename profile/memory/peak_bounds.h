// Why a step's peak may be a bound: lifetimes of values that a file does not show, and calls that
// may differ from those of the model's own code. Plain data (profile/memory/peak_uncertainty.h and
// other_calls.h find it).
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof {

struct PeakUncertainty {
  /// Growth of the peak if every value of unknown lifetime lives as long as it can, plus
  /// unregistered tensors of modules; 0 if unchanged.
  std::int64_t bytes = 0;
  /// Growth of the peak if every value of a function without source lines is kept until the step's
  /// end, by a list or an attribute: the upper bound for such functions. At least `bytes`.
  std::int64_t most_bytes = 0;
  LifetimeUncertainty because = LifetimeUncertainty::none;  ///< The cause of most of `bytes`.
  std::int64_t peak_bytes = 0;  ///< The peak of the recorded step, tensors alone.
  bool trains = false;          ///< The step has a backward pass.

  /// True if the peak is a lower bound: the uncertainty exceeds 2 % of the peak, or is above 0 in
  /// training (whose peaks are otherwise exact) or without Python lines (which would show
  /// containers too).
  bool is_lower_bound() const {
    return bytes > (trains || because == LifetimeUncertainty::no_lines ? 0 : peak_bytes / 50);
  }

  /// Memory that should be free beyond a lower-bound peak: in inference, all that may be held. In
  /// training, the likely part: most values are saved for backward anyway, and lists that outlive
  /// backward are rare.
  std::int64_t margin_bytes() const {
    if (!is_lower_bound()) return 0;
    return trains ? bytes : most_bytes;
  }
};

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

}  // namespace symprof
