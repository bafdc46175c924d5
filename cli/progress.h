// A progress bar on standard error.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "cli/output.h"
#include "record/step_options.h"
#include "session/measure/measure.h"

namespace symprof::cli {

/// Shows itself only on a terminal, after a second of work, a few times a second.
class ProgressBar {
 public:
  explicit ProgressBar(const OutputOptions& options);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// The callback that a step reports to; empty where nothing would be shown. Valid as long as the
  /// bar is.
  Progress callback();

  /// Erases the bar's line, as the destructor does. Call it before anything is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void show(std::string_view stage, std::int64_t done, std::int64_t total);

  const bool wanted_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;  ///< Backward reports from the autograd engine's thread.
  Clock::time_point shown_at_ = start_;
  bool shown_ = false;
};

/// Shows how far work is, while it runs.
ShowProgress show_progress_of(const OutputOptions& options);

}  // namespace symprof::cli
