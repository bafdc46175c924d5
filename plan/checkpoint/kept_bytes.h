// The effect on memory of keeping individual calls, once the region or one of its runs has been
// recomputed.
//
// Until then, kept outputs add to what the region holds. Afterward they replace the recomputed
// outputs; where the forward output is alive for other readers anyway, it is held once instead of
// twice.
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

  /// The last shared call at which recomputed outputs of the region are alive.
  int last_place(std::size_t region) const { return last_[region]; }
  /// By keepable call: the bytes that keeping it adds (negative: saves) at a shared call after the
  /// region's first recomputation, compared with keeping its inputs alone.
  std::vector<std::int64_t> at(std::size_t region, int place) const;

 private:
  struct Change {
    Span span;
    std::size_t call = 0;
    std::int64_t bytes = 0;
  };

  void add(std::size_t region, const Change& change);

  std::vector<std::size_t> calls_;            // By region: their number.
  std::vector<std::vector<Change>> changes_;  // By region.
  std::vector<int> last_;                     // By region.
};

}  // namespace symprof::plan
