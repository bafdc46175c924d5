// A measured history beside a predicted one: the requests that both make, and what the difference
// of their peaks consists of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapshot/analysis.h"

namespace symprof::snapshot {

/// A part of a history, from one request to another.
struct HistoryPart {
  EventIndex first = 0, end = 0;  ///< Half open.
  std::vector<RequestIndex> requests;
  Usage start;  ///< Before the first event.
  Peak allocated, reserved;
};

/// Requests that stand for each other; no_request where one side has none.
struct RequestPair {
  RequestIndex measured = no_request, predicted = no_request;
};

/// Why two peaks differ.
enum class PeakCause : std::uint8_t {
  before_part,     ///< What is held when the parts begin, and still at their peaks.
  other_size,      ///< Requests that stand for each other, of different sizes.
  measured_only,   ///< Requests that only the measured history has.
  predicted_only,  ///< Requests that only the predicted history has.
  other_moment,    ///< Equal requests, held at one of the peaks or in blocks of different sizes.
};

/// Requests of one cause, one measured line and one predicted operation.
struct PeakDifference {
  PeakCause cause = PeakCause::before_part;
  std::string measured, predicted;  ///< The line, and the operation; may be empty.
  std::int64_t requests = 0;        ///< Pairs count once; 0 of what was held before.
  std::int64_t measured_bytes = 0, predicted_bytes = 0;  ///< Held at the two peaks.

  std::int64_t bytes() const { return predicted_bytes - measured_bytes; }
};

struct Prediction {
  /// All of the recording, or its last whole step if far more of its requests are predicted.
  HistoryPart measured;
  std::int64_t measured_step = -1;  ///< The step's number from 0; below 0: all of the recording.
  /// The part of the predicted history with the nearest requests.
  HistoryPart predicted;
  std::int64_t equal_requests = 0;
  std::vector<RequestPair> differing;  ///< In the order of requests.
  /// The largest first. Their bytes() sum to the difference of the two parts' allocated peaks.
  std::vector<PeakDifference> differences;

  /// Equal requests of those of the larger part; 0 without requests.
  double equal_share() const;
  /// True if at least half of the requests are equal.
  bool is_same_program() const { return equal_share() >= 0.5; }
};

/// A snapshot of one device, analyzed.
struct AnalyzedSnapshot {
  const Snapshot& snapshot;
  const Sites& sites;
  const DeviceAnswer& device;
};

Prediction compare_with_prediction(const AnalyzedSnapshot& measured,
                                   const AnalyzedSnapshot& predicted);

}  // namespace symprof::snapshot
