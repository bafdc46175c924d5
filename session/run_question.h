// The question of fit_run (session/run_fit.h): which batches, in which order, with what in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/batches.h"
#include "record/step_options.h"

namespace symprof {

/// One of both is empty.
struct RunData {
  std::vector<std::int64_t> lengths;
  std::vector<plan::Batch> shapes;  ///< Of the batches, in their order.
};

/// An evaluation after every so many updates: a forward pass without gradients, whose blocks all
/// go when it ends, as in a function of the loop.
struct BetweenSteps {
  std::int64_t every = 0;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  ///< As Settings::sizes.
};

/// Reads "eval@500:batch=16,seq=512". Throws Error about the setting "between".
BetweenSteps read_between(const std::string& given);

struct RunQuestion {
  RunData data;
  plan::BatchRule rule;  ///< Of lengths; shapes are batches already.
  std::string batch_dim = "batch", length_dim = "seq";
  std::vector<BetweenSteps> between;
  bool wants_largest = false;  ///< The largest rule.most with which every batch fits.
  int shuffles = 0;            ///< Seeds from 1 on of which epochs are simulated, too.
  bool tries_settings = true;  ///< Of the allocator: each is one more run.
  Progress progress;           ///< Told of the passes whose shapes are recorded.
};

/// One pass of the run: of a batch, or between two updates.
struct RunPass {
  std::optional<std::size_t> batch;  ///< Empty: an evaluation.
  std::int64_t update = 0;           ///< The updates before it.
};

}  // namespace symprof
