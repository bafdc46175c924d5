// What keeping calls of a region changes once the region, or one of its runs, went back.
//
// Until a run goes back, what is kept is there beside what the region would hold without it. Then
// it takes the place of what would have been made again, and where the forward pass's own output is
// still there for others, it is there once and not twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/checkpoint/certain_bytes.h"
#include "plan/checkpoint/region_costs.h"
#include "plan/checkpoint/shared_steps.h"

namespace symprof::plan {

class KeptBytes {
 public:
  /// Weights are those of `bytes`.
  KeptBytes(const StepCosts& costs, const SharedSteps& steps, const CertainBytes& bytes);

  /// The shared call after which nothing of the region is left.
  int last_place(std::size_t region) const { return last_[region]; }
  /// By keepable call: what is held more, or less, at a shared call after the region first went
  /// back, than if it runs again and keeps its inputs alone.
  std::vector<std::int64_t> at(std::size_t region, int place) const;

 private:
  struct Change {
    Span span;
    std::size_t call = 0;
    std::int64_t bytes = 0;
  };

  void add(std::size_t region, const Change& change);

  std::vector<std::size_t> calls_;            // By region: how many.
  std::vector<std::vector<Change>> changes_;  // By region.
  std::vector<int> last_;                     // By region.
};

}  // namespace symprof::plan
