// Limits on the memory that a malformed pickle can request.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symprof::snapshot::pickle {

/// A packed file may unpack to a thousand times its size. Ten million events need less than this.
constexpr std::size_t most_open_values = std::size_t{1} << 24;
constexpr std::size_t most_kept_values = std::size_t{1} << 26;
constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t most_bytes_of_all_texts = std::uint64_t{1} << 28;
constexpr int highest_protocol = 5;
/// A single byte can open a list; in a real snapshot each list takes 25 bytes or more.
constexpr std::uint64_t bytes_of_container = 8, first_containers = 1'000'000;

}  // namespace symprof::snapshot::pickle
