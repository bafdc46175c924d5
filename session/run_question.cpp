#include "session/run_question.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "session/read_text.h"
#include "trace/passes/bind_inputs.h"

namespace symprof {

BetweenSteps read_between(const std::string& given) {
  const SettingRef where{"between", given};
  const std::size_t colon = std::min(given.find(':'), given.size());
  const std::string when = given.substr(0, colon);
  if (!when.starts_with("eval@"))
    throw Error(where, fmt::format("'{}' is not known.", when), "Write eval@500:batch=16,seq=512.");
  BetweenSteps steps{.every = settings::parse_amount(where, when.substr(5)), .sizes = {}};
  if (colon == given.size()) return steps;
  for (const std::string& size : settings::split_list(given.substr(colon + 1)))
    steps.sizes.push_back(trace::parse_binding(size));
  return steps;
}

}  // namespace symprof
