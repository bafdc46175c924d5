// Assumed values of numbers that a program reads from tensors without storage.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::shape {

struct StandIn {
  std::int64_t number = 1;
  bool tells_fault = false;  ///< The number is an error check.
};

/// The assumed value, so that the program takes its normal path: 0 for error checks (isnan, isinf,
/// GradScaler's found_inf, samples of a normal distribution beyond a bound, and values computed
/// from these), 1 for everything else; a comparison with an integer is evaluated on the assumed
/// operand.
StandIn stand_in_for(const Recording& recording, StorageId storage);

}  // namespace symprof::shape
