// Parameters of experts that expert parallelism has split (trace/passes/expert_parallel.h): the
// engines of data parallelism leave them alone.
#pragma once

#include <set>

#include "record/recording.h"

namespace symprof::profile {

std::set<StorageId> expert_parameters(const Recording& recording);

}  // namespace symprof::profile
