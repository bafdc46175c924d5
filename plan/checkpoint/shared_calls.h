// The calls that all plans of a step make, and the lifetime of each storage in terms of them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::plan {

constexpr int never = std::numeric_limits<int>::max();

/// Shared calls, from the first to the last during which a storage is alive.
struct Span {
  int first = never, last = -1;

  bool is_empty() const { return first > last; }
  Span within(const Span& other) const;
};

/// The calls of a recording except those that its regions recompute. They are numbered by places,
/// from 0.
class SharedCalls {
 public:
  /// `regions` are modules. `recording` must outlive this.
  SharedCalls(const Recording& recording, const std::map<std::string, std::size_t>& regions);

  const Recording& recording() const { return recording_; }
  const std::vector<CallId>& calls() const { return calls_; }
  const CallRecord& call(std::size_t place) const {
    return recording_.calls[static_cast<std::size_t>(calls_[place])];
  }
  const std::string& op(std::size_t place) const {
    return recording_.ops[static_cast<std::size_t>(call(place).op)];
  }

  bool is_again(CallId call) const { return is_again_[static_cast<std::size_t>(call)]; }
  /// The place of a call; if it is not shared, of the next shared call.
  int place(CallId call) const { return place_[static_cast<std::size_t>(call)]; }
  const Span& span(StorageId storage) const { return spans_[static_cast<std::size_t>(storage)]; }
  /// In 512-byte blocks; 0 in host memory.
  std::int64_t bytes(StorageId storage) const;
  /// By shared call: the storages that it allocates, in order.
  std::vector<std::vector<StorageId>> made() const;

 private:
  void read_spans();

  const Recording& recording_;
  std::vector<bool> is_again_;  // By call.
  std::vector<int> place_;      // By call.
  std::vector<CallId> calls_;
  std::vector<Span> spans_;  // By storage.
};

}  // namespace symprof::plan
