// A step of a model, run and timed where this program runs, beside its estimate.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "measure/run.h"
#include "session/session.h"

namespace symprof {

/// Runs `work` with a callback that shows how far it is, until it ends.
using ShowProgress = std::function<void(const std::function<void(const Progress&)>& work)>;

struct MeasureQuestion {
  std::string model;
  Settings settings;
  std::string estimate;         ///< Whose estimates stand beside: a name, a file, or empty.
  measure::RunOptions options;  ///< Its device: parse_real_device().
  ShowProgress show_progress;
};

struct MeasureAnswer {
  Settings settings;  ///< Those that the estimate is of.
  Profile profile;
  measure::Run run;
};

/// The answer, or the exit code of the process that runs CUDA, where that is not 0: it has said
/// why. LibTorch's real answers about CUDA and the simulated ones, which the estimate needs, do not
/// live in one process. Throws Error for a step that this machine's memory cannot hold.
std::variant<MeasureAnswer, int> measure_model(const MeasureQuestion& question);

}  // namespace symprof
