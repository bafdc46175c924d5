#include "report/memory/changes.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "report/memory/snapshot_text.h"

namespace symprof::report {
namespace {

using snapshot::Event;
using snapshot::Request;

constexpr std::size_t most_changes = 1'000'000;

/// Appends changes of memory. If there are too many, the changes of one owner within a number of
/// consecutive events are summed up.
class Changes {
 public:
  Changes(MemoryChanges& made, std::size_t expected)
      : made_(made), stretch_(1 + expected / most_changes), sums_(made.owners.size() + 1) {}

  void add(std::uint32_t event, std::size_t owner, std::int64_t bytes) {
    sums_[owner] += bytes;
    if (++waiting_ >= stretch_) flush(event);
    last_ = event;
  }
  void end() { flush(last_); }

 private:
  void flush(std::uint32_t event) {
    waiting_ = 0;
    for (std::size_t owner = 0; owner < sums_.size(); ++owner) {
      const std::int64_t units = sums_[owner] / bytes_of_unit;
      if (units == 0) continue;
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
      made_.event.push_back(event);
      made_.owner.push_back(static_cast<std::uint8_t>(owner));
      made_.units.push_back(static_cast<std::int32_t>(std::clamp(units, -most, most)));
      sums_[owner] = 0;
    }
  }

  MemoryChanges& made_;
  std::size_t stretch_, waiting_ = 0;
  std::vector<std::int64_t> sums_;
  std::uint32_t last_ = 0;
};

}  // namespace

MemoryChanges changes_of(const SnapshotAnswer& answer, const std::vector<snapshot::Share>& shares,
                         const std::vector<std::string>& names, bool by_line) {
  MemoryChanges made{.owners = names};
  made.owners.emplace_back("all others");
  std::unordered_map<std::uint32_t, std::size_t> owners;
  for (std::size_t i = 0; i < names.size(); ++i) owners[shares[i].site] = i;
  const auto owner_of = [&](const Request& request) {
    const auto at =
        owners.find(by_line ? answer.sites.line_of(request) : answer.sites.module_of(request));
    return at == owners.end() ? names.size() : at->second;
  };
  const snapshot::History& history = answer.device.history;
  made.start.assign(made.owners.size(), 0);
  for (const Request& request : history.requests)
    if (request.begin == snapshot::no_event) made.start[owner_of(request)] += request.bytes;
  made.start.push_back(history.start.reserved);
  const std::vector<Event>& events = events_of(answer);
  Changes changes(made, events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (const std::int64_t bytes = snapshot::reserved_change(events[i]); bytes != 0)
      changes.add(i, made.owners.size(), bytes);
    const snapshot::RequestIndex at = history.request_of_event[i];
    if (at == snapshot::no_request) continue;
    const Request& request = history.requests[at];
    if (request.begin == i) changes.add(i, owner_of(request), request.bytes);
    if (request.freed == i) changes.add(i, owner_of(request), -request.bytes);
  }
  changes.end();
  return made;
}

std::string base64(const void* bytes, std::size_t count) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* data = static_cast<const unsigned char*>(bytes);
  std::string text;
  text.reserve((count + 2) / 3 * 4);
  for (std::size_t i = 0; i < count; i += 3) {
    const auto at = [&](std::size_t j) -> std::uint32_t { return j < count ? data[j] : 0; };
    const std::uint32_t three = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    for (int part = 0; part < 4; ++part)
      text +=
          i + static_cast<std::size_t>(part) > count ? '=' : letters[three >> (18 - 6 * part) & 63];
  }
  return text;
}

}  // namespace symprof::report
