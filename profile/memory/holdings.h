// Who holds how much at the peak. A step allocates and frees tens of thousands of blocks and
// passes through hundreds of peaks before the highest: so changes are written down, and summed
// once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/memory/step_memory.h"

namespace symprof::profile {

/// The node whose module owns each storage of `recording`. A parameter, buffer or cache has the
/// first node that uses it; a gradient or optimizer state has its parameter's, or the optimizer
/// where it belongs to none, as GradScaler's scale; all else has the node that made it. none where
/// nobody uses or made it. In a program the users are nodes of `range`, and what was there before
/// it belongs to them, whoever made it.
std::vector<NodeId> storage_owners(const Recording& recording,
                                   const std::optional<ProgramRange>& range = {});

/// What a block of `storage` is held for.
MemoryCategory category_of(const StorageRecord& storage);

class Holdings {
 public:
  /// `owner` holds `bytes` more, or less where they are negative.
  void change(NodeId owner, MemoryCategory category, std::int64_t bytes) {
    changes_.push_back({bytes, owner, category});
  }
  /// Remembers that what is held now is the most so far.
  void mark_peak() { changes_until_peak_ = changes_.size(); }

  /// By node in ascending order; nodes that hold nothing are left out.
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
