// When each storage of a step is freed, depending on which regions are recomputed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/checkpoint/shared_steps.h"
#include "record/recording.h"

namespace symprof::plan {

/// A position among the allocations of a recording: before those of a call, or after one.
using Moment = std::int32_t;

class Moments {
 public:
  explicit Moments(const Recording& recording);

  Moment count() const { return static_cast<Moment>(calls_.size()); }
  CallId call(Moment moment) const { return calls_[static_cast<std::size_t>(moment)]; }
  /// The storage allocated at the moment; none before a call.
  StorageId taken(Moment moment) const { return taken_[static_cast<std::size_t>(moment)]; }
  /// After the call's first `requests` allocations, or after all if it makes fewer.
  Moment after(CallId call, Moment requests) const;

 private:
  std::vector<CallId> calls_;
  std::vector<StorageId> taken_;
  std::vector<Moment> begin_;  // By call; the last element ends the last call.
};

/// Moments and storages are those of the fully checkpointed step.
///
/// A storage is freed when the last region that made or read it releases it, at one of two moments:
/// whether the region is recomputed decides. The four recordings cover every combination of two
/// neighboring regions, so the moment is known for storages shared by two. For more than two, where
/// no recording matches the plan, each region is assumed to release the storage no later than in
/// any recording that treats the region as the plan does.
class StorageEnds {
 public:
  static constexpr Moment never = std::int32_t{1} << 30;

  explicit StorageEnds(const SharedSteps& steps);

  const Moments& moments() const { return moments_; }
  /// `again` is by SharedSteps::modules(): true if the module is recomputed.
  Moment end(StorageId storage, const std::vector<bool>& again) const;

 private:
  enum Choice : std::uint8_t { plain, again, even, odd };
  static constexpr std::size_t choices = 4;
  static constexpr Moment missing = -1;

  struct Ends {
    std::array<Moment, choices> by_choice{missing, missing, missing, missing};
    std::vector<int> modules;  // Those that made or read it in the forward pass.
  };

  bool runs_again(Choice choice, int module) const;
  void read(const SharedSteps& steps, const SharedCalls& calls, Choice choice);
  void read_holders(const SharedSteps& steps, const std::vector<StorageId>& storages);

  Moments moments_;
  std::vector<int> sides_;  // By module.
  std::vector<Ends> ends_;  // By storage.
};

}  // namespace symprof::plan
