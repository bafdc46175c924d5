// What stands for a number that a program reads from a tensor without storage.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::shape {

struct StandIn {
  std::int64_t number = 1;
  bool tells_fault = false;  ///< It says whether something is wrong.
};

/// 0 for what says that something is wrong (isnan, isinf, GradScaler's found_inf, whether numbers
/// of a normal distribution lie beyond a bound, and what is made of these), 1 for everything else;
/// of a comparison with an integer, whether it holds for what stands for the numbers that it
/// compares: a program takes the way that it takes when all is well.
StandIn stand_in_for(const Recording& recording, StorageId storage);

}  // namespace symprof::shape
