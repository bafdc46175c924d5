// How much a pickle may ask for, whatever its bytes say.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symprof::snapshot::pickle {

/// What is packed may say a thousand times as much as its bytes are. Ten million events need less.
constexpr std::size_t most_open_values = std::size_t{1} << 24;
constexpr std::size_t most_kept_values = std::size_t{1} << 26;
constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t most_bytes_of_all_texts = std::uint64_t{1} << 28;
constexpr int highest_protocol = 5;
/// A byte of a file can open a list. Those of a snapshot take 25 bytes and more each.
constexpr std::uint64_t bytes_of_container = 8, first_containers = 1'000'000;

}  // namespace symprof::snapshot::pickle
