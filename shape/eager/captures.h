// CUDA graphs that a program captures (torch.cuda.graph), and their replays: the captured calls
// once more, which allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <vector>

#include "shape/eager/capture.h"
#include "shape/eager/program_nodes.h"
#include "shape/step/recorder.h"

namespace symprof::shape {

class Captures {
 public:
  Captures(Recorder& recorder, ProgramNodes& nodes) : recorder_(recorder), nodes_(nodes) {}
  ~Captures();
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  /// Tells the nodes; in a capture, each replay of it does so again.
  template <class Tell>
  void tell(const Tell& tell) {
    if (is_capturing_) note(tell);
    tell(nodes_);
  }

  /// Begins a capture of `stream` into `pool`. Returns the stream that stands for both.
  std::int64_t begin(std::int64_t pool, std::int64_t stream);
  /// The stream that stands for another one in the current capture.
  std::int64_t stream_of(std::int64_t stream);
  /// Ends the capture; returns its number.
  std::size_t end();
  bool is_capturing() const { return is_capturing_; }
  void replay(std::size_t capture);
  /// The graph is gone.
  void release(std::size_t capture);

 private:
  std::int64_t capture_stream_of(std::int64_t pool, std::int64_t stream);
  void note(std::function<void(ProgramNodes&)> tell);
  void note_frees();

  Recorder& recorder_;
  ProgramNodes& nodes_;
  std::vector<Capture> captures_;  // The last one may be open.
  bool is_capturing_ = false;
  LastReplay last_;
  std::unordered_set<StorageId> freed_;
  std::size_t noted_events_ = 0;  // Whose frees are in `freed_`.
};

}  // namespace symprof::shape
