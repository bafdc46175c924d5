// The Python source of a traced model, read from the user's folders: a trace has the file, line and
// function of each call, but no text.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/python/source/python_file.h"
#include "trace/python/source/source_lines.h"
#include "trace/torchscript/python_stack.h"

namespace symprof::trace::torchscript {

/// Source information of the functions on a node's stack.
struct SourceOfNode {
  SourceId line = no_source;  ///< The innermost line; no_source if the trace has no stack.
  std::optional<bool> gradients;
  bool no_autocast = false;
};

class PythonSources {
 public:
  /// `folders` contain the files. Lines are added to `graph`, which must outlive this.
  PythonSources(std::vector<std::string> folders, Graph& graph)
      : folders_(std::move(folders)), lines_(graph.source_lines), table_(lines_) {}

  /// Checks the files against the nodes of all functions of `module`: a file whose functions are at
  /// other lines, or whose lines never name the called function, is another version than the traced
  /// one, and is ignored. Throws Error if no file remains.
  void judge(const torch::jit::Module& module);

  /// The source of nodes with `stack`. A line of a missing file has no text.
  SourceOfNode source_of(const std::string& stack);

  /// A warning about files of another version; empty if there are none.
  std::string warning() const;

 private:
  /// A file of the trace, and its content if found.
  struct File {
    std::optional<PythonFile> content;
    bool has_moved = false;      ///< A function is not at the line in the trace.
    int naming = 0, silent = 0;  ///< Lines that name the called function, and others.
    std::set<std::pair<std::int64_t, std::string>> judged;  ///< A line, and the called function.

    bool is_other_version() const { return has_moved || (naming == 0 && silent > 3); }
  };

  void judge(const torch::jit::Node& node);
  void judge(const StackFrame& frame, std::string_view called);
  void check_found() const;
  SourceOfNode read(const std::string& stack);
  File& file_of(std::string_view path);
  const PythonLine* line_of(const StackFrame& frame);
  void add_return(const std::string& callers, const StackFrame& frame, const PythonLine& line);
  void add_plain_lines(const std::string& callers, const StackFrame& frame, const PythonLine& line);
  void add_line(std::string trace, const PythonLine& line);

  std::vector<std::string> folders_;
  std::vector<SourceLine>& lines_;
  SourceTable table_;
  std::unordered_map<std::string, File> files_;
  std::unordered_map<std::string, SourceOfNode> known_;  // By stack.
  std::deque<std::string> traces_;                       // Storage of the table's views.
  std::unordered_set<std::string> returns_;              // Traces of lines that return.
  std::unordered_set<std::string> added_;                // Traces of lines with known blocks.
  std::unordered_set<std::string> judged_;               // Stacks.
};

}  // namespace symprof::trace::torchscript
