#include "profile/temporaries/temporaries.h"

#include <algorithm>
#include <unordered_map>

namespace symprof::profile {
namespace {

constexpr TemporariesRules (*families[])() = {
    matmul_temporaries,     attention_temporaries,  convolution_temporaries,
    indexing_temporaries,   reduction_temporaries,  normalization_temporaries,
    batch_norm_temporaries, loss_temporaries,       sorting_temporaries,
    list_temporaries,       resampling_temporaries, elementwise_temporaries,
    embedding_temporaries,  masking_temporaries,    uniqueness_temporaries,
    random_temporaries,     searching_temporaries,  distance_temporaries,
    scattering_temporaries, segment_temporaries,    unmodelled_temporaries};

std::unordered_map<std::string_view, TemporariesFunction> by_name() {
  std::unordered_map<std::string_view, TemporariesFunction> result;
  for (const auto family : families)
    for (const TemporariesRule& rule : family()) result.emplace(rule.op, rule.temporaries);
  return result;
}

}  // namespace

std::size_t Temporaries::take(Count bytes) {
  blocks.push_back(bytes.value());
  return blocks.size() - 1;
}

void Temporaries::give_back(std::size_t block) {
  early.push_back({block, blocks.size(), has_outputs});
}

void Temporaries::give_back_from(std::size_t first) {
  for (std::size_t block = first; block < blocks.size(); ++block)
    if (std::ranges::find(early, block, &EarlyReturn::block) == early.end()) give_back(block);
}

void Temporaries::make_outputs() {
  before_outputs = blocks.size();
  has_outputs = true;
}

TemporariesFunction find_temporaries(std::string_view op) {
  static const auto table = by_name();
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

std::vector<Temporaries> temporaries_of(const Recording& recording, const DeviceSpec& device) {
  std::vector<TemporariesFunction> rules;
  for (const std::string& op : recording.ops) rules.push_back(find_temporaries(op));
  std::vector<Temporaries> needed(recording.calls.size());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    if (const TemporariesFunction rule = rules[static_cast<std::size_t>(call.op)])
      needed[i] = rule(Call(recording, call), device);
  }
  return needed;
}

}  // namespace symprof::profile
