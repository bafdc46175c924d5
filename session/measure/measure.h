// A step of a model, run and timed on this machine, beside its estimate.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "measure/run.h"
#include "profile/profile.h"
#include "session/session.h"

namespace symprof {

/// Runs `work` with a callback that shows how far it is, until it ends.
using ShowProgress = std::function<void(const std::function<void(const Progress&)>& work)>;

struct MeasureQuestion {
  std::string model;
  Settings settings;
  std::string estimate;         ///< Device of the estimates: a name, a file, or empty.
  measure::RunOptions options;  ///< Its device: parse_real_device().
  ShowProgress show_progress;
};

struct MeasureAnswer {
  Settings settings;  ///< Settings of the estimate.
  Profile profile;
  measure::Run run;
};

/// Returns the answer, or the exit code of the process that runs CUDA if not 0: it has printed the
/// error. LibTorch's real CUDA and the simulated one, which the estimate needs, cannot share a
/// process. Throws Error for a step larger than this machine's memory.
std::variant<MeasureAnswer, int> measure_model(const MeasureQuestion& question);

}  // namespace symprof
