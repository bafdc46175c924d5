// Does a training run fit whose batches differ? Each shape's step is recorded once, and the steps
// are run in their order on one simulated allocator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/fit.h"
#include "plan/largest_size.h"
#include "profile/memory/run/run_memory.h"
#include "session/run_question.h"
#include "session/session.h"

namespace symprof {

/// The run with other settings of the allocator.
struct TriedAllocator {
  std::string conf;                 ///< As in PYTORCH_ALLOC_CONF; empty: as given.
  std::int64_t reserved_bytes = 0;  ///< At the peak, without a limit.
  bool fits = false;
  std::int64_t alloc_retries = 0;  ///< On the device.
};

struct RunTime {
  double us = 0, low_us = 0, high_us = 0;  ///< Of all updates: sums over their steps.
  std::int64_t unknown_calls = 0;          ///< Without a time, in the shapes' steps.
};

struct Shuffles {
  int epochs = 0;
  std::vector<std::int64_t> refused;  ///< The seeds that do not fit.
};

struct TokenCounts {
  std::int64_t given = 0, padded = 0;
};

struct RunFit {
  Settings settings;  ///< As they ran: see PreparedModel.
  DeviceSpec device;
  plan::Budget budget;
  std::string model;
  std::vector<plan::Batch> batches;
  std::vector<RunPass> passes;        ///< In order.
  std::size_t shapes = 0;             ///< That were recorded.
  std::int64_t set_aside_bytes = 0;   ///< The most of any shape: see plan::Fit.
  std::int64_t incomplete_calls = 0;  ///< Of any shape's step: see StepMemory.
  /// Rows are those of `passes`, without the model's before them. `wanted` has no limit.
  profile::RunMemory wanted, there;
  std::vector<TriedAllocator> tried;
  std::optional<plan::LargestSize> largest;
  std::int64_t largest_reserved_bytes = 0;  ///< On the device, with the largest.
  std::optional<Shuffles> shuffles;
  std::optional<RunTime> time;  ///< Empty: not requested.

  bool fits() const { return !there.refused; }
  std::int64_t margin_bytes() const;  ///< As plan::Fit has it.
  std::int64_t peak_reserved_bytes() const;
  std::size_t peak_pass() const;  ///< The first with the largest allocated peak, without a limit.
  TokenCounts tokens() const;     ///< Of all batches.
};

/// Throws what Session::prepare and Session::record throw, and Error about the question.
RunFit fit_run(Session& session, const Settings& settings, const RunQuestion& question);

}  // namespace symprof
