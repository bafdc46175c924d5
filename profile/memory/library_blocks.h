// Device memory that libraries allocate once and keep until the process ends.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/device_spec.h"
#include "profile/cost/scratch/scratch.h"
#include "profile/memory/held_blocks.h"
#include "record/graph_pools.h"
#include "record/recording.h"

namespace symprof::profile {

class LibraryBlocks {
 public:
  LibraryBlocks(HeldBlocks& blocks, const Recording& recording, const DeviceSpec& device,
                const AllocatorSettings& settings)
      : blocks_(blocks),
        captures_(recording.capture_streams),
        device_(device),
        cublaslt_workspace_bytes_(settings.cublaslt_workspace_bytes) {}

  /// Before all blocks of `call`: cuDNN's dropout state. The first call that needs it allocates it;
  /// the first call after a change of the generator's state allocates a new one and frees the old
  /// (get_dropout_state in native/cudnn/RNN.cpp). A checkpoint changes the generator's state at the
  /// start and the end of its recompute (set_device_states in torch/utils/checkpoint.py).
  void begin_call(const CallRecord& call, const Scratch& needed) {
    // Both are dropped where recording begins and ends (clear_cublas_manager in
    // torch/_inductor/cudagraph_trees.py).
    const bool records = call.stream == graph_pool_stream;
    if (std::exchange(was_recording_, records) != records) drop_workspaces();
    const bool recomputes = call.phase == Phase::recompute;
    if (std::exchange(was_recomputing_, recomputes) != recomputes) is_generator_changed_ = true;
    if (needed.dropout_state_bytes == 0) return;
    if (dropout_state_.address && !is_generator_changed_) return;
    is_generator_changed_ = false;
    HeldBlock old = std::exchange(dropout_state_, blocks_.request(needed.dropout_state_bytes,
                                                                  MemoryCategory::workspace, none));
    blocks_.give_back(old);
  }

  /// After all blocks of `call`: a cuBLAS workspace for each thread (main and autograd) and stream
  /// with matrix products, then one of cuBLASLt, whose handle is cuBLAS's
  /// (ATen/cuda/CublasHandlePool.cpp).
  void end_call(const CallRecord& call, const Scratch& needed) {
    if (!needed.uses_cublas || device_.cublas_workspace_bytes == 0) return;
    const bool is_autograds = is_in_backward(call.phase);
    make_workspace(workspaces_, device_.cublas_workspace_bytes, is_autograds, call.stream);
    if (needed.uses_cublaslt && cublaslt_workspace_bytes_ > 0)
      make_workspace(cublaslt_workspaces_, cublaslt_workspace_bytes_, is_autograds, call.stream);
  }

  /// Gives back cuBLAS's workspaces on a stream.
  void drop_workspaces_of(std::int64_t stream) {
    for (Workspaces* made : {&workspaces_, &cublaslt_workspaces_})
      for (const bool is_autograds : {false, true})
        if (auto found = made->extract({is_autograds, stream})) blocks_.give_back(found.mapped());
  }

  /// Allocates cuBLAS's workspaces of both threads on the default stream.
  void make_workspaces() {
    if (device_.cublas_workspace_bytes == 0) return;
    for (const bool is_autograds : {false, true})
      make_workspace(workspaces_, device_.cublas_workspace_bytes, is_autograds, /*stream=*/0);
  }

 private:
  /// Keys: true for autograd's thread; the stream.
  using Workspaces = std::map<std::pair<bool, std::int64_t>, HeldBlock>;

  /// A capture takes the workspaces of the stream that it captures, or makes them in its pool.
  void make_workspace(Workspaces& made, std::int64_t bytes, bool is_autograds, StreamId stream) {
    const std::int64_t own = is_captured(stream) ? captures_[capture_index(stream)].stream : stream;
    if (const auto [workspace, is_new] = made.try_emplace({is_autograds, own}); is_new)
      workspace->second = blocks_.request(bytes, MemoryCategory::workspace, none, stream);
  }

  void drop_workspaces() {
    for (Workspaces* made : {&workspaces_, &cublaslt_workspaces_}) {
      for (auto& [key, workspace] : *made) blocks_.give_back(workspace);
      made->clear();
    }
  }

  HeldBlocks& blocks_;
  const std::vector<CaptureStream>& captures_;
  const DeviceSpec& device_;
  std::int64_t cublaslt_workspace_bytes_;
  Workspaces workspaces_, cublaslt_workspaces_;
  HeldBlock dropout_state_;
  bool was_recomputing_ = false, is_generator_changed_ = false, was_recording_ = false;
};

}  // namespace symprof::profile
