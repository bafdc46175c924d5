// Holdings by owner at the peak. A step allocates and frees tens of thousands of blocks and passes
// hundreds of local peaks, so changes are logged and summed once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/memory/memory_data.h"

namespace symprof::profile {

/// The node whose module owns each storage of `recording`. Owner = first user for a parameter,
/// buffer or cache; its parameter's owner for a gradient or optimizer state (the optimizer node if
/// it has no parameter, like GradScaler's scale); the producer otherwise. none without a user or
/// producer. In a program, users are nodes of `range`, which also own storages allocated before it.
std::vector<NodeId> storage_owners(const Recording& recording,
                                   const std::optional<ProgramRange>& range = {});

/// The category of a block of `storage`.
MemoryCategory category_of(const StorageRecord& storage);

/// By storage. In a program, storages allocated before `range`, not freed in it, never saved for
/// backward, and of no module, batch or optimizer are persistent: averaged weights, memory banks.
std::vector<MemoryCategory> storage_categories(const Recording& recording,
                                               const std::optional<ProgramRange>& range = {});

class Holdings {
 public:
  /// Adds `bytes` (may be negative) to the holdings of `owner`.
  void change(NodeId owner, MemoryCategory category, std::int64_t bytes) {
    changes_.push_back({bytes, owner, category});
  }
  /// Marks the current holdings as the peak.
  void mark_peak() { changes_until_peak_ = changes_.size(); }

  /// Holdings at the peak by ascending node; nodes that hold nothing are omitted.
  std::vector<NodeHolding> at_peak() const;

 private:
  struct Change {
    std::int64_t bytes = 0;
    NodeId owner = none;
    MemoryCategory category = MemoryCategory::temporaries;
  };
  std::vector<Change> changes_;
  std::size_t changes_until_peak_ = 0;
};

}  // namespace symprof::profile
