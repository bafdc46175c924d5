// Aligns the source lines of two versions of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symprof::snapshot {

/// Blocks of one site: a line, or a module.
struct SiteBlocks {
  std::string name;  ///< With its numbers.
  std::string kind;  ///< Only sites of one kind can be the same: names without numbers.
  std::vector<std::int64_t> place;             ///< The numbers: sites of one kind keep their order.
  std::vector<std::int64_t> requested, bytes;  ///< Of each block, in the order of requests.
};

struct SitePair {
  std::optional<std::size_t> before,
      after;  ///< Indexes; none where the other side has no such one.
};

/// Sites are paired so that the bytes of equal requests are as many as possible, and that in one
/// kind no two pairs cross.
std::vector<SitePair> align_sites(const std::vector<SiteBlocks>& before,
                                  const std::vector<SiteBlocks>& after);

}  // namespace symprof::snapshot
