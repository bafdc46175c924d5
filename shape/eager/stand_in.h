// What stands for a number that a program reads from a tensor without storage.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::shape {

/// 0 for what says that something is wrong (isnan, isinf, GradScaler's found_inf, whether numbers
/// of a normal distribution lie beyond a bound, and what is made of these), 1 for everything else:
/// a program takes the way that it takes when all is well.
std::int64_t stand_in_for(const Recording& recording, StorageId storage);

}  // namespace symprof::shape
