// Which lines of a program read numbers that tensors without storage do not have, and what stood
// for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "meta/fake/value_range.h"
#include "record/recording.h"

namespace symprof::shape {

class ReadNumbers {
 public:
  explicit ReadNumbers(std::function<std::string()> place) : place_(std::move(place)) {}

  /// What stands for a number of `storage`, all of which lie in `range`.
  double answer(const Recording& recording, StorageId storage, const meta::ValueRange& range);
  /// What reads numbers after this is not in a loop of before it.
  void end_loops() { reads_ = 0; }

  /// A sentence for each line that read such numbers.
  std::vector<std::string> warnings() const;
  /// Sentences for the error that a program ends with: the last line that read such a number, and
  /// the last one that took an upper bound for a size; empty where there is none.
  std::string last(const Recording& recording) const;

 private:
  struct Line {
    int reads = 0;
    std::set<double> answers;
    bool ends_loop = false;
  };

  bool ends_loop(const std::string& place);

  std::function<std::string()> place_;
  std::map<std::string, Line> lines_;
  std::string last_place_, last_answered_;
  double last_answer_ = 0;
  int reads_ = 0;
};

}  // namespace symprof::shape
