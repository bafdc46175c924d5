// The Python that a trace was made from, read where its owner says that it lies: a trace has the
// file, line and function of each call, and no text.
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

/// What the source says about the functions that ran at a node.
struct SourceOfNode {
  SourceId line = no_source;  ///< The innermost; no_source where the trace has no stack.
  std::optional<bool> gradients;
  bool no_autocast = false;
};

class PythonSources {
 public:
  /// `folders` have the files. Lines are added to those of `graph`, which has to outlive this.
  PythonSources(std::vector<std::string> folders, Graph& graph)
      : folders_(std::move(folders)), lines_(graph.source_lines), table_(lines_) {}

  /// Holds the files against the nodes of all functions of `module`: a file whose functions lie
  /// elsewhere, or none of whose lines names the function that it called, is of another
  /// version than the one that was traced, and is left out. Throws Error where no file is left.
  void judge(const torch::jit::Module& module);

  /// For the nodes that ran under `stack`. A line whose file is not there has no text.
  SourceOfNode source_of(const std::string& stack);

  /// A warning about files that another version of the code has; empty where there are none.
  std::string warning() const;

 private:
  /// A file of the trace, and what is there of it.
  struct File {
    std::optional<PythonFile> content;
    bool has_moved = false;      ///< A function is not where the trace has it.
    int naming = 0, silent = 0;  ///< Lines that name the function that they called, and others.
    std::set<std::pair<std::int64_t, std::string>> judged;  ///< A line, and what it called.

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
  std::deque<std::string> traces_;                       // What the table has views into.
  std::unordered_set<std::string> returns_;              // Traces of lines that return.
  std::unordered_set<std::string> added_;                // Traces of lines whose blocks are known.
  std::unordered_set<std::string> judged_;               // Stacks.
};

}  // namespace symprof::trace::torchscript
