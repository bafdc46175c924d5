// A kernel's work as named numbers, as the columns of a CSV have it: one list of names for both
// ways.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "profile/time/formula.h"
#include "profile/time/kernel.h"

namespace symprof::profile {

using Columns = std::map<std::string, std::int64_t>;

/// The members of the work that the formula takes, by their names in profile/time/kernel.h (`in`,
/// `m`). What has no column keeps its default, but `result_bytes` is then `operand_bytes`.
Work work_of(const Formula& formula, const Columns& columns);

Columns columns_of(const Work& work);

}  // namespace symprof::profile
