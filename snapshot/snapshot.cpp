#include "snapshot/snapshot.h"

#include <utility>

namespace symprof::snapshot {

StackId Stacks::add(std::span<const FrameId> frames) {
  ids_.insert(ids_.end(), frames.begin(), frames.end());
  begins_.push_back(ids_.size());
  return static_cast<StackId>(begins_.size() - 2);
}

FrameId Stacks::add(const Frame& frame) {
  frames_.push_back(frame);
  return static_cast<FrameId>(frames_.size() - 1);
}

TextId Stacks::add(std::string text) {
  texts_.push_back(std::move(text));
  return static_cast<TextId>(texts_.size() - 1);
}

}  // namespace symprof::snapshot
