// Results of plans and of comparisons of two profiles, for Python.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "python/bindings/profile_handle.h"
#include "session/checkpoint_answer.h"
#include "session/parallel_plan.h"
#include "session/session.h"
#include "session/throughput_answer.h"

namespace symprof::python {

struct CheckpointHandle {
  CheckpointAnswer answer;

  /// True if there is a plan for every budget.
  bool found() const;
  std::string text(std::optional<int> width) const;
  std::string json() const;
  std::string html() const;
  /// Python code that applies the plan. Throws Error as report::write_checkpoint_python does.
  std::string code() const;
};

struct ThroughputHandle {
  ThroughputAnswer answer;

  /// True if some batch fits into every device.
  bool found() const;
  std::string text(std::optional<int> width) const;
  std::string json() const;
};

struct ParallelHandle {
  ParallelAnswer answer;

  /// True if a layout fits.
  bool found() const;
  std::string text(std::optional<int> width) const;
  std::string json() const;
  /// Python code that applies the plan under torchrun. Throws Error as
  /// report::write_parallel_python does.
  std::string code() const;
};

/// Without budgets, returns a curve. Throws Error as Session::plan_checkpoint does.
CheckpointHandle plan_checkpoint(Session& session, const SettingTexts& texts,
                                 const std::vector<std::string>& budgets,
                                 const std::vector<std::string>& regions);

/// `budget` may be empty. Throws Error as Session::plan_throughput does.
ThroughputHandle plan_throughput(Session& session, const SettingTexts& texts,
                                 const std::vector<std::string>& devices, const std::string& budget,
                                 const std::vector<std::string>& regions);

/// The values of the command's options with these names.
struct ParallelTexts {
  std::string mesh, layout;
  std::optional<std::int64_t> global_batch;
  std::vector<std::string> blocks;
};
/// Throws Error as symprof::plan_parallel does.
ParallelHandle plan_parallel(Session& session, const SettingTexts& texts,
                             const ParallelTexts& question);

/// The changes in the costs of a step. Both profiles must outlive it.
struct CostsHandle {
  const ProfileHandle* a = nullptr;
  const ProfileHandle* b = nullptr;
  TableRequest request;

  std::string text(std::optional<int> width) const;
  std::string json() const;
  std::string html() const;
};

}  // namespace symprof::python
