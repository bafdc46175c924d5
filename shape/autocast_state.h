// Autocast of this thread, kept for later.
#pragma once

#include <ATen/autocast_mode.h>

#include <array>

namespace symprof::shape {

/// What autocast was when `now` was called.
class AutocastState {
 public:
  static AutocastState now();
  void restore() const;

 private:
  struct Entry {
    bool enabled = false;
    at::ScalarType dtype = at::kHalf;
  };
  static constexpr std::array devices = {at::kCPU, at::kCUDA};
  std::array<Entry, devices.size()> entries_;
  bool cache_ = true;
};

/// For as long as it lives, autocast is as it was then, in a region of its own: casts of weights
/// are not those of the code around it, and go with it.
class AutocastAgain {
 public:
  explicit AutocastAgain(const AutocastState& state);
  ~AutocastAgain();
  AutocastAgain(const AutocastAgain&) = delete;
  AutocastAgain& operator=(const AutocastAgain&) = delete;

 private:
  AutocastState before_;
};

}  // namespace symprof::shape
