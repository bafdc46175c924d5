#include "profile/cost/scratch/scratch.h"

#include <algorithm>
#include <unordered_map>

namespace symprof::profile {
namespace {

constexpr ScratchRules (*families[])() = {
    matmul_scratch,    attention_scratch,     convolution_scratch, indexing_scratch,
    reduction_scratch, normalization_scratch, batch_norm_scratch,  loss_scratch,
    sorting_scratch,   list_scratch,          resampling_scratch,  elementwise_scratch,
    embedding_scratch, masking_scratch,       uniqueness_scratch,  random_scratch,
    searching_scratch, distance_scratch,      scattering_scratch,  segment_scratch,
    unmodelled_scratch};

std::unordered_map<std::string_view, ScratchFunction> by_name() {
  std::unordered_map<std::string_view, ScratchFunction> result;
  for (const auto family : families)
    for (const ScratchRule& rule : family()) result.emplace(rule.op, rule.scratch);
  return result;
}

}  // namespace

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

ScratchFunction find_scratch(std::string_view op) {
  static const auto table = by_name();
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

std::vector<Scratch> scratch_of(const Recording& recording, const DeviceSpec& device) {
  std::vector<ScratchFunction> rules;
  for (const std::string& op : recording.ops) rules.push_back(find_scratch(op));
  std::vector<Scratch> needed(recording.calls.size());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    if (const ScratchFunction rule = rules[static_cast<std::size_t>(call.op)])
      needed[i] = rule(Call(recording, call), device);
  }
  return needed;
}

}  // namespace symprof::profile
