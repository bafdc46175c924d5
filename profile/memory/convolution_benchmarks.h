// Effect of torch.backends.cudnn.benchmark on the allocator: cuDNN's plans for a convolution of a
// new shape are timed with the largest plan's workspace; then PyTorch releases all cached memory to
// the device (aten/src/ATen/native/cudnn/Conv_v8.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/device_spec.h"
#include "profile/memory/held_blocks.h"
#include "record/recording.h"

namespace symprof::profile {

class ConvolutionBenchmarks {
 public:
  /// `times_all`: time all convolutions, regardless of the recording.
  ConvolutionBenchmarks(HeldBlocks& blocks, const Recording& recording, const DeviceSpec& device,
                        bool times_all)
      : blocks_(blocks), recording_(recording), device_(device), times_all_(times_all) {}

  void begin_call(const CallRecord& call);
  /// Called when `storage`, an output of the call, is allocated but not yet computed. If the
  /// workspace does not fit on the device, plans with half of it are tried, and so on: a trial
  /// never fails.
  void try_plans(const CallRecord& call, StorageId storage);

 private:
  /// An output of the call for which plans are tried, and their workspace bytes.
  struct Trial {
    std::size_t output = 0;
    std::int64_t workspace_bytes = 0;
  };
  using Key = std::vector<std::int64_t>;

  bool is_timed(const CallRecord& call) const;

  HeldBlocks& blocks_;
  const Recording& recording_;
  const DeviceSpec& device_;
  bool times_all_ = false;
  std::set<Key> timed_;
  std::vector<Trial> trials_;  // Of the current call.
};

}  // namespace symprof::profile
