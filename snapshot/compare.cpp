#include "snapshot/compare.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <tuple>

#include "snapshot/align.h"

namespace symprof::snapshot {
namespace {

/// A name without its numbers and folders, which are `place`.
SiteBlocks named(const std::string& name) {
  SiteBlocks site{.name = name};
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == ':' && i + 1 < name.size() &&
        std::isdigit(static_cast<unsigned char>(name[i + 1]))) {
      std::int64_t number = 0;
      constexpr std::int64_t most = 1'000'000'000;
      while (i + 1 < name.size() && std::isdigit(static_cast<unsigned char>(name[i + 1])))
        number = std::min(most, number * 10 + (name[++i] - '0'));
      site.place.push_back(number);
    } else if (name[i] == '/') {
      site.kind.erase(site.kind.rfind(' ') + 1);
    } else {
      site.kind += name[i];
    }
  }
  return site;
}

SiteBlocks named(const Line& line) {
  if (line.kind != LineKind::source) return {.name = text_of(line), .kind = text_of(line)};
  return {.name = text_of(line),
          .kind = line.file.substr(line.file.rfind('/') + 1) + ' ' + line.function,
          .place = {line.number}};
}

/// The blocks held at the allocated peak, by site, in order of request.
template <class SiteOf, class NameOf>
std::vector<SiteBlocks> blocks_at_peak(const History& history, SiteOf site_of, NameOf name_of) {
  std::map<std::uint32_t, SiteBlocks> found;
  for (const Request& request : history.requests) {
    if (!request.is_held_at(history.allocated.event)) continue;
    const std::uint32_t site = site_of(request);
    const auto [at, is_new] = found.try_emplace(site);
    if (is_new) at->second = named(name_of(site));
    at->second.requested.push_back(request.requested_bytes);
    at->second.bytes.push_back(request.bytes);
  }
  std::vector<SiteBlocks> blocks;
  blocks.reserve(found.size());
  for (auto& [site, held] : found) blocks.push_back(std::move(held));
  return blocks;
}

std::vector<SiteBlocks> lines_of(const NamedHistory& named) {
  return blocks_at_peak(
      named.history, [&](const Request& request) { return named.sites.line_of(request); },
      [&](LineId id) { return named.sites.line(id); });
}
std::vector<SiteBlocks> modules_of(const NamedHistory& named) {
  return blocks_at_peak(
      named.history, [&](const Request& request) { return named.sites.module_of(request); },
      [&](ModuleId id) { return named.sites.module(id); });
}

SiteChange::Held held(const SiteBlocks& site) {
  SiteChange::Held held{.name = site.name, .blocks = static_cast<std::int64_t>(site.bytes.size())};
  for (const std::int64_t bytes : site.bytes) held.bytes += bytes;
  return held;
}

/// Removes from both lists the blocks whose requested and allocated sizes are equal.
void take_equal(SiteBlocks& a, SiteBlocks& b) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
  for (std::size_t i = 0; i < b.bytes.size(); ++i) ++counts[{b.requested[i], b.bytes[i]}];
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> taken;
  const auto keep = [](SiteBlocks& site, auto take) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < site.bytes.size(); ++i) {
      if (take(std::pair{site.requested[i], site.bytes[i]})) continue;
      site.requested[kept] = site.requested[i];
      site.bytes[kept++] = site.bytes[i];
    }
    site.requested.resize(kept);
    site.bytes.resize(kept);
  };
  keep(a, [&](const auto& size) {
    const auto at = counts.find(size);
    if (at == counts.end() || at->second == 0) return false;
    --at->second;
    ++taken[size];
    return true;
  });
  keep(b, [&](const auto& size) {
    const auto at = taken.find(size);
    return at != taken.end() && at->second-- > 0;
  });
}

SiteChange change_of(SiteBlocks before, SiteBlocks after) {
  SiteChange change{.before = held(before), .after = held(after)};
  take_equal(before, after);
  const std::size_t both = std::min(before.bytes.size(), after.bytes.size());
  for (std::size_t i = 0; i < both; ++i) {
    change.resized_bytes += after.bytes[i] - before.bytes[i];
    ++change.resized_blocks;
  }
  for (std::size_t i = both; i < before.bytes.size(); ++i)
    change.removed_bytes += before.bytes[i], ++change.removed_blocks;
  for (std::size_t i = both; i < after.bytes.size(); ++i)
    change.added_bytes += after.bytes[i], ++change.added_blocks;
  return change;
}

std::vector<SiteChange> changes(const std::vector<SiteBlocks>& before,
                                const std::vector<SiteBlocks>& after) {
  std::vector<SiteChange> found;
  for (const SitePair& pair : align_sites(before, after))
    found.push_back(change_of(pair.before ? before[*pair.before] : SiteBlocks{},
                              pair.after ? after[*pair.after] : SiteBlocks{}));
  std::int64_t all = 0;
  for (const SiteChange& change : found) all += change.bytes();
  // What goes the way of the peak explains it: a peak that moved lacks what stood at the old one.
  std::ranges::stable_sort(found, std::ranges::greater(), [&](const SiteChange& change) {
    const bool explains = all == 0 || (change.bytes() > 0) == (all > 0);
    return std::tuple(change.bytes() != 0 && explains, std::abs(change.bytes()),
                      change.added_bytes + change.removed_bytes);
  });
  return found;
}

}  // namespace

Comparison compare(const NamedHistory& before, const NamedHistory& after) {
  return {changes(lines_of(before), lines_of(after)),
          changes(modules_of(before), modules_of(after))};
}

}  // namespace symprof::snapshot
