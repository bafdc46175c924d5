#include "profile/memory/spacers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace symprof::profile {
namespace {

CallId call_of(const std::string& path, const std::vector<ModuleBegin>& begins) {
  const auto found = std::ranges::find(begins, path, &ModuleBegin::path);
  if (found != begins.end()) return found->call;
  throw Error(SettingRef{"spacers"}, fmt::format("no module '{}' runs in the forward pass.", path),
              "Name a module as the plan's file does. What lies in a module that runs again is not "
              "known.");
}

}  // namespace

std::vector<ModuleBegin> module_begins(const Recording& recording) {
  std::vector<ModuleBegin> begins;
  std::set<std::string> known{""};
  for (std::size_t i = 0; i < recording.calls.size(); ++i) {
    const CallRecord& call = recording.calls[i];
    if (call.phase != Phase::forward || call.node == none) continue;
    for (const std::int32_t scope : recording.nodes[static_cast<std::size_t>(call.node)].scopes) {
      const std::string& path = recording.modules[static_cast<std::size_t>(scope)].path;
      if (known.insert(path).second) begins.push_back({path, static_cast<CallId>(i)});
    }
  }
  return begins;
}

std::vector<SpacerCalls> calls_of(const std::vector<Spacer>& spacers, const Recording& recording) {
  if (spacers.empty()) return {};
  if (recording.rank)
    throw Error(SettingRef{"spacers"}, "a step on several ranks has none.",
                fmt::format("Leave it out, or {}.", setting("parallel")));
  const std::vector<ModuleBegin> begins = module_begins(recording);
  std::vector<SpacerCalls> calls;
  for (const Spacer& spacer : spacers) {
    calls.push_back({call_of(spacer.from, begins), call_of(spacer.until, begins)});
    if (calls.back().from >= calls.back().until)
      throw Error(SettingRef{"spacers"},
                  fmt::format("'{}' does not begin after '{}' in the forward pass.", spacer.until,
                              spacer.from),
                  "A spacer is held from where the first module begins until the second does.");
  }
  return calls;
}

}  // namespace symprof::profile
