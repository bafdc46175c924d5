// What torch.backends.cudnn.benchmark does to the allocator: after cuDNN's plans for a convolution
// of a new shape were timed, PyTorch gives all cached memory back to the device
// (aten/src/ATen/native/cudnn/Conv_v8.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "record/recording.h"

namespace symprof::profile {

class ConvolutionBenchmarks {
 public:
  explicit ConvolutionBenchmarks(const Recording& recording) : recording_(recording) {}

  /// Which outputs of the call are computed by a convolution that was not timed before: by output.
  /// They count as timed from now on. Empty for other calls.
  std::vector<bool> times(const CallRecord& call);

 private:
  using Key = std::vector<std::int64_t>;

  const Recording& recording_;
  std::set<Key> timed_;
};

}  // namespace symprof::profile
