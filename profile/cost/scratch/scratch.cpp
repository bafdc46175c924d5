#include "profile/cost/scratch/scratch.h"

#include <algorithm>

namespace symprof::profile {
std::size_t Scratch::take(Count bytes) {
  blocks.push_back(bytes.value());
  return blocks.size() - 1;
}

void Scratch::give_back(std::size_t block) { early.push_back({block, blocks.size(), has_outputs}); }

void Scratch::give_back_from(std::size_t first) {
  for (std::size_t block = first; block < blocks.size(); ++block)
    if (std::ranges::find(early, block, &EarlyReturn::block) == early.end()) give_back(block);
}

void Scratch::make_outputs() {
  before_outputs = blocks.size();
  has_outputs = true;
}

Scratch unknown_scratch(const Call&, const DeviceSpec&) { return {.is_incomplete = true}; }

Scratch scratch_without_rule(const Call&, const DeviceSpec&) {
  return {.is_incomplete = true, .has_no_rule = true};
}

}  // namespace symprof::profile
