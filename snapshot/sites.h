// The source line and module that requested a block, from its frames.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "snapshot/history.h"
#include "snapshot/snapshot.h"

namespace symprof::snapshot {

using LineId = std::uint32_t;
using ModuleId = std::uint32_t;

enum class LineKind : std::uint8_t {
  source,       ///< A line of the program.
  autograd,     ///< A node of the backward graph, which has no line.
  native,       ///< A function of a library.
  node,         ///< Of a snapshot that symprof wrote: a node of the model and its call.
  no_frames,    ///< None were recorded: most of them are made by autograd's own thread.
  before_start  ///< Made before the recording.
};

struct Line {
  LineKind kind = LineKind::no_frames;
  std::string file;  ///< Below the folder that all files of the program have in common.
  std::string function;
  std::int64_t number = 0;
  friend bool operator==(const Line&, const Line&) = default;
};

class Sites {
 public:
  explicit Sites(const Snapshot& snapshot);

  /// The innermost line that is the program's own, not PyTorch's or Python's.
  LineId line_of(const Request& request) const {
    return request.stack == 0 ? (request.begin == no_event ? before_start : no_frames)
                              : lines_of_stacks_[request.stack];
  }
  LineId line_of(StackId stack) const { return lines_of_stacks_[stack]; }
  /// The module that requested the block: its path in a snapshot that symprof wrote; else the lines
  /// that called the module and its outer modules, outermost first. Metadata set by the program
  /// precedes both.
  ModuleId module_of(const Request& request) const {
    return request.metadata != 0 ? modules_of_metadata_.at(request.metadata)
                                 : modules_of_stacks_[request.stack];
  }

  const Line& line(LineId id) const { return lines_[id]; }
  /// Empty outside of modules.
  const std::string& module(ModuleId id) const { return modules_[id]; }
  std::size_t line_count() const { return lines_.size(); }
  std::size_t module_count() const { return modules_.size(); }

  static constexpr LineId no_frames = 0, before_start = 1;
  static constexpr ModuleId no_module = 0;

 private:
  std::vector<Line> lines_;
  std::vector<std::string> modules_;
  std::vector<LineId> lines_of_stacks_;
  std::vector<ModuleId> modules_of_stacks_;
  std::unordered_map<TextId, ModuleId> modules_of_metadata_;
};

/// "model.py:54 forward", "BmmBackward0", "no frames".
std::string text_of(const Line& line);

}  // namespace symprof::snapshot
