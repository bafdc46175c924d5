// A family of operators: the rules that count what their calls cost.
//
// Public header.
#pragma once

#include <string_view>

#include "profile/cost/flops/rules.h"
#include "profile/cost/scratch/scratch.h"
#include "profile/cost/time/rules.h"

namespace symprof::profile {

/// A column is null where the family has no rules of that kind.
struct Family {
  std::string_view name;
  Rules (*flops)() = nullptr;           ///< FLOPs and bytes read and written.
  ScratchRules (*scratch)() = nullptr;  ///< Scratch memory.
  TimeRules (*times)() = nullptr;       ///< Rules that say which kernels run.
};

}  // namespace symprof::profile
