// Limits of a graph after inlining functions: nested calls grow exponentially, so a file of a few
// hundred bytes could exhaust memory.
#pragma once

#include <cstddef>
#include <string>

namespace symprof::trace {

/// Shared by a graph and its subgraphs.
class GraphBudget {
 public:
  /// Counts a node, a value or a call with texts of `bytes` bytes. Throws Error when the whole is
  /// too much.
  void spend(std::size_t bytes, const std::string& path);
  /// Counts the entries of a list. Throws Error when they are too many.
  void spend_entries(int count, const std::string& path);

  /// One level of calls or subgraphs, while it lives. Throws Error when they are nested too deep.
  class Level {
   public:
    Level(GraphBudget& budget, const std::string& path);
    ~Level() { --budget_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    GraphBudget& budget_;
  };

 private:
  std::size_t spent_ = 0;
  int depth_ = 0;
};

}  // namespace symprof::trace
