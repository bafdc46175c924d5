// The blocks of a loop's spacers.
#pragma once

#include <vector>

#include "profile/memory/held_blocks.h"
#include "profile/memory/spacers.h"

namespace symprof::profile {

class SpacerBlocks {
 public:
  /// Throws as calls_of() does.
  SpacerBlocks(HeldBlocks& blocks, const Recording& recording, const std::vector<Spacer>& spacers)
      : blocks_(blocks),
        spacers_(spacers),
        calls_(calls_of(spacers, recording)),
        held_(spacers.size()) {}

  /// What ends with the begin of `call` goes before others come.
  void begin_call(CallId call) {
    for (std::size_t i = 0; i < spacers_.size(); ++i)
      if (calls_[i].until == call) blocks_.give_back(held_[i]);
    for (std::size_t i = 0; i < spacers_.size(); ++i)
      if (calls_[i].from == call)
        held_[i] = blocks_.request(spacers_[i].bytes, MemoryCategory::temporaries, none);
  }

 private:
  HeldBlocks& blocks_;
  std::vector<Spacer> spacers_;
  std::vector<SpacerCalls> calls_;
  std::vector<HeldBlock> held_;
};

}  // namespace symprof::profile
