// The CUPTI of the GPU that computes nothing: what operations tell it.
#pragma once

#include <cstdint>
#include <vector>

#include "operations.h"

namespace fake {

/// Of the clock that records have; 0 while nobody records.
std::uint64_t cupti_now();
/// Records of a call that began at `entered`, ends now and asked for `operations`, all with
/// `correlation`. Nothing where `entered` is 0.
void cupti_record(const std::vector<Operation>& operations, Api api, std::uint32_t correlation,
                  std::uint64_t entered);
/// Until the made-up time of all operations is over.
void cupti_wait();

}  // namespace fake
