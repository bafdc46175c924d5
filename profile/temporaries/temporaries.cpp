#include "profile/temporaries/temporaries.h"

#include <unordered_map>

namespace symprof::profile {
namespace {

constexpr TemporariesRules (*families[])() = {matmul_temporaries, attention_temporaries,
                                              convolution_temporaries, indexing_temporaries};

std::unordered_map<std::string_view, TemporariesFunction> by_name() {
  std::unordered_map<std::string_view, TemporariesFunction> result;
  for (const auto family : families)
    for (const TemporariesRule& rule : family()) result.emplace(rule.op, rule.temporaries);
  return result;
}

}  // namespace

TemporariesFunction find_temporaries(std::string_view op) {
  static const auto table = by_name();
  const auto found = table.find(op);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace symprof::profile
