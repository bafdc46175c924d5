// When each storage of a step goes, by which regions run again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/checkpoint/shared_steps.h"
#include "record/recording.h"

namespace symprof::plan {

/// A place among the requests for memory of a recording: before those of a call, or after one.
using Moment = std::int32_t;

class Moments {
 public:
  explicit Moments(const Recording& recording);

  Moment count() const { return static_cast<Moment>(calls_.size()); }
  CallId call(Moment moment) const { return calls_[static_cast<std::size_t>(moment)]; }
  /// What is taken then; none before a call.
  StorageId taken(Moment moment) const { return taken_[static_cast<std::size_t>(moment)]; }
  /// After the call's first `requests`, or all of them if it makes fewer.
  Moment after(CallId call, Moment requests) const;

 private:
  std::vector<CallId> calls_;
  std::vector<StorageId> taken_;
  std::vector<Moment> begin_;  // By call, and where the last one ends.
};

/// Moments and storages are those of the step in which all regions run again.
///
/// A storage goes when the last region that made or read it lets go of it, and a region does so at
/// one of two moments: whether it runs again decides. The four recordings have each way in which
/// two neighbours can run, so that the moment is known of what two regions hold. Of more than two,
/// where no recording is as the plan, each region lets go no later than in any recording in which
/// it runs as in the plan.
class StorageEnds {
 public:
  static constexpr Moment never = std::int32_t{1} << 30;

  explicit StorageEnds(const SharedSteps& steps);

  const Moments& moments() const { return moments_; }
  /// `again` says of each of SharedSteps::modules() whether it runs again.
  Moment end(StorageId storage, const std::vector<bool>& again) const;

 private:
  enum Choice : std::uint8_t { plain, again, even, odd };
  static constexpr std::size_t choices = 4;
  static constexpr Moment missing = -1;

  struct Ends {
    std::array<Moment, choices> by_choice{missing, missing, missing, missing};
    std::vector<int> modules;  // That made or read it in the forward pass.
  };

  bool runs_again(Choice choice, int module) const;
  void read(const SharedSteps& steps, const SharedCalls& calls, Choice choice);
  void read_holders(const SharedSteps& steps, const std::vector<StorageId>& storages);

  Moments moments_;
  std::vector<int> sides_;  // By module.
  std::vector<Ends> ends_;  // By storage.
};

}  // namespace symprof::plan
