// Changes of memory, packed for a page's script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/memory_snapshot.h"

namespace symprof::report {

/// Allocated bytes by owner, over events. An owner is one of the lines that hold the most of the
/// peak; the last one is all others.
struct MemoryChanges {
  std::vector<std::string> owners;
  std::vector<std::int64_t> start;   ///< Of each owner, then reserved.
  std::vector<std::uint32_t> event;  ///< Of each change.
  std::vector<std::uint8_t> owner;   ///< `owners.size()` is reserved.
  std::vector<std::int32_t> units;   ///< Of 512 bytes, below 0 where memory is given back.
};

constexpr std::int64_t bytes_of_unit = 512;

MemoryChanges changes_of(const SnapshotAnswer& answer, const std::vector<snapshot::Share>& shares,
                         const std::vector<std::string>& names, bool by_line);

/// Little-endian bytes in base 64, as `atob` reads them.
std::string base64(const void* bytes, std::size_t count);

}  // namespace symprof::report
