// Lines of a program that read unknown numbers from tensors without storage, and the values that
// were assumed.
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

  /// The value assumed for a number of `storage`, whose numbers lie in `range`.
  double answer(const Recording& recording, StorageId storage, const meta::ValueRange& range);
  /// Ends the loops so far: later reads start new counts.
  void end_loops() { reads_ = 0; }

  /// A warning for each line that read such numbers.
  std::vector<std::string> warnings() const;
  /// Text for the error that ends a program: the last line that read such a number, and the last
  /// line that took an upper bound for a size; empty if there is none.
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
