// One capture of a CUDA graph by a program, and its last replay, as plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "record/ids.h"

namespace symprof::shape {

class ProgramNodes;

/// What the program said to its nodes during a capture, and where.
struct CaptureMark {
  CallId before_call = none;
  std::size_t before_save = 0;
  bool is_grad_enabled = true;
  std::function<void(ProgramNodes&)> tell;
};

/// Half-open ranges of the recording.
struct Capture {
  std::int64_t stream = 0;
  CallId first_call = 0, end_call = 0;
  NodeId first_node = 0, end_node = 0;
  std::size_t first_event = 0, end_event = 0;
  std::size_t first_save = 0, end_save = 0;
  std::vector<CaptureMark> marks;
};

/// The last replay's storages and nodes for those of captures: a graph of a backward pass reads
/// what the forward pass's graph has saved.
struct LastReplay {
  std::unordered_map<StorageId, StorageId> storages;
  std::unordered_map<NodeId, NodeId> nodes;
};

}  // namespace symprof::shape
