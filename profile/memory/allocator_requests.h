// What a program asks of the allocator beside blocks: to empty its cache, and to keep or release
// the pools of its CUDA graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "profile/memory/held_blocks.h"
#include "profile/memory/library_blocks.h"
#include "record/recording.h"

namespace symprof::profile {

class AllocatorRequests {
 public:
  AllocatorRequests(const Recording& recording, HeldBlocks& blocks, LibraryBlocks& libraries)
      : recording_(recording), blocks_(blocks), libraries_(libraries) {}

  /// Makes the requests before the request of this index.
  void make_until(std::size_t request) {
    while (made_ < request) make(recording_.allocator_requests[made_++]);
  }
  /// Makes the requests before the event of this index.
  void make_before(std::size_t event) {
    const auto& requests = recording_.allocator_requests;
    for (; made_ < requests.size() && requests[made_].before_event <= event; ++made_)
      make(requests[made_]);
  }

 private:
  // A pool is kept while it has graphs; the last one's end lets empty_cache release it. With any
  // graph of a stream its cuBLAS workspaces go (CUDAGraph::reset in ATen/cuda/CUDAGraph.cpp).
  void make(const AllocatorRequest& request) {
    if (request.kind == AllocatorRequest::Kind::empty_cache) return blocks_.empty_cache();
    const CaptureStream& capture = recording_.capture_streams[capture_index(request.stream)];
    const bool keeps = request.kind == AllocatorRequest::Kind::keep_pool;
    if (!keeps) libraries_.drop_workspaces_of(capture.stream);
    int& graphs = graphs_[capture.pool];
    if (keeps ? graphs++ == 0 : --graphs == 0) keep(capture.pool, keeps);
  }

  void keep(std::int64_t pool, bool keeps) {
    const auto& captures = recording_.capture_streams;
    for (std::size_t i = 0; i < captures.size(); ++i)
      if (captures[i].pool == pool) blocks_.keep_pool(capture_stream(i), keeps);
  }

  const Recording& recording_;
  HeldBlocks& blocks_;
  LibraryBlocks& libraries_;
  std::map<std::int64_t, int> graphs_;  // By pool.
  std::size_t made_ = 0;
};

}  // namespace symprof::profile
