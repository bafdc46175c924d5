// What libraries take of the device once and keep until the process ends.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "base/device_spec.h"
#include "profile/cost/scratch/scratch.h"
#include "profile/memory/held_blocks.h"
#include "record/recording.h"

namespace symprof::profile {

class LibraryBlocks {
 public:
  LibraryBlocks(HeldBlocks& blocks, const DeviceSpec& device) : blocks_(blocks), device_(device) {}

  /// Before all blocks of `call`: cuDNN's state of dropout. The first call that has one makes it,
  /// and the first behind a change of the generator's state makes another and lets go of this one
  /// (get_dropout_state in native/cudnn/RNN.cpp). A checkpoint changes it where it begins to
  /// recompute and where it ends (set_device_states in torch/utils/checkpoint.py).
  void begin_call(const CallRecord& call, const Scratch& needed) {
    const bool recomputes = call.phase == Phase::recompute;
    if (std::exchange(was_recomputing_, recomputes) != recomputes) is_generator_changed_ = true;
    if (needed.dropout_state_bytes == 0) return;
    if (dropout_state_.address && !is_generator_changed_) return;
    is_generator_changed_ = false;
    HeldBlock old = std::exchange(dropout_state_, blocks_.request(needed.dropout_state_bytes,
                                                                  MemoryCategory::workspace, none));
    blocks_.give_back(old);
  }

  /// Behind all blocks of `call`: a workspace of cuBLAS for each thread and stream that multiplies:
  /// the program's thread, and autograd's own (ATen/cuda/CublasHandlePool.cpp).
  void end_call(const CallRecord& call, const Scratch& needed) {
    if (!needed.uses_cublas || device_.cublas_workspace_bytes == 0) return;
    if (!workspaces_.emplace(is_in_backward(call.phase), call.stream).second) return;
    blocks_.request(device_.cublas_workspace_bytes, MemoryCategory::workspace, none, call.stream);
  }

 private:
  HeldBlocks& blocks_;
  const DeviceSpec& device_;
  std::set<std::pair<bool, std::int64_t>> workspaces_;
  HeldBlock dropout_state_;
  bool was_recomputing_ = false, is_generator_changed_ = false;
};

}  // namespace symprof::profile
