// One replay of a captured CUDA graph: its calls again, in their phases and modules, on the memory
// that they were captured on.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shape/eager/capture.h"
#include "shape/eager/program_nodes.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

class Replay {
 public:
  /// `freed`: the storages that are freed by now.
  Replay(Recorder& recorder, ProgramNodes& nodes, LastReplay& last,
         const std::unordered_set<StorageId>& freed, const Capture& capture)
      : recorder_(recorder),
        nodes_(nodes),
        last_(last),
        freed_(freed),
        capture_(capture),
        next_node_(capture.first_node),
        next_event_(capture.first_event),
        next_save_(capture.first_save) {}

  void run();

 private:
  void reach(CallId call);
  void repeat(CallId call);
  void repeat_storages(CallId call);
  void repeat_events(CallId call);
  void repeat_saves(std::size_t end);
  void free_storage(StorageId storage);
  NodeId node_of(NodeId node);
  StorageId storage_of(StorageId storage) const;
  void rename(std::vector<TensorRecord>& tensors) const;
  void rename_tensors_of_nodes();
  bool is_at(std::size_t event, CallId call) const;

  Recorder& recorder_;
  ProgramNodes& nodes_;
  LastReplay& last_;
  const std::unordered_set<StorageId>& freed_;
  const Capture& capture_;
  NodeId next_node_;
  std::size_t next_event_, next_save_, next_mark_ = 0;
  std::unordered_map<StorageId, StorageId> made_;  // By this replay, for those of the capture.
  std::vector<NodeId> made_nodes_;
};

}  // namespace symprof::shape
