#include "profile/memory/allocator/allocator_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/rounding.h"
#include "base/torch_version.h"

namespace symprof::profile {
namespace {

constexpr std::int64_t small_segment_bytes = 2_MiB;  // kSmallBuffer
constexpr std::int64_t first_interval = 1_MiB;       // kRoundUpPowerOfTwoStart

int floor_log2(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

EqualBlocks equal_blocks_of(std::int64_t minor) {
  if (minor >= 13) return EqualBlocks::oldest_segment;
  return minor == 12 ? EqualBlocks::oldest_block : EqualBlocks::lowest_address;
}

std::int64_t cublaslt_workspace_bytes_of(std::int64_t minor) { return minor <= 11 ? 1_MiB : 0; }

std::size_t interval_of(std::int64_t bytes) {
  return static_cast<std::size_t>(
      std::clamp(floor_log2(bytes) - floor_log2(first_interval), 0, 15));
}

/// `roundup_power2_next_division`: the next of `divisions` equal steps above the power of two.
std::int64_t next_division(std::int64_t bytes, std::int64_t divisions) {
  if (std::has_single_bit(static_cast<std::uint64_t>(bytes))) return bytes;
  const std::int64_t floor = std::int64_t{1} << floor_log2(bytes);
  const std::int64_t step = floor >> floor_log2(divisions);
  return step == 0 ? floor << 1 : round_up(bytes, step);
}

class SettingsReader {
 public:
  explicit SettingsReader(std::string_view text) : text_(text) {
    std::string rest(text);
    std::erase_if(rest, [](char c) { return c == ' ' || c == '\t'; });
    for (std::size_t at = 0; at < rest.size();) {
      const std::size_t end = item_end(rest, at);
      read_item(std::string_view(rest).substr(at, end - at));
      at = end + 1;
    }
    check_against_segments();
  }

  AllocatorSettings take() const { return settings_; }

 private:
  // Commas inside [] belong to the value.
  static std::size_t item_end(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
      if (text[at] == '[') ++depth;
      if (text[at] == ']') --depth;
      if (text[at] == ',' && depth == 0) break;
    }
    return at;
  }

  void read_item(std::string_view item) {
    if (item.empty()) return;
    const std::size_t colon = item.find(':');
    const std::string key(item.substr(0, colon));
    if (colon == item.npos) fail(key, "has no value", "Write key:value.");
    const std::string_view value = item.substr(colon + 1);
    if (key == "expandable_segments")
      settings_.expandable_segments = truth(key, value);
    else if (key == "max_split_size_mb")
      settings_.max_split_size_bytes = mebibytes(key, value, 1);
    else if (key == "max_non_split_rounding_mb")
      settings_.max_non_split_rounding_bytes = mebibytes(key, value, 1);
    else if (key == "large_segment_size_mb")
      settings_.large_segment_bytes = mebibytes(key, value, (own_segment_from_bytes >> 20) + 1);
    else if (key == "garbage_collection_threshold")
      settings_.garbage_collection_threshold = fraction(key, value);
    else if (key == "per_process_memory_fraction")
      settings_.per_process_memory_fraction = fraction(key, value);
    else if (key == "reserve_up_front_mb")
      read_up_front(key, value);
    else if (key == "torch")
      read_version(key, value);
    else if (key == "roundup_power2_divisions")
      read_divisions(key, value);
    else if (key == "backend")
      require(key, value == "native", value, "native; cudaMallocAsync is not simulated");
    else if (!key.starts_with("pinned_") && key != "release_lock_on_cudamalloc" &&
             key != "graph_capture_record_stream_reuse")
      unknown(key);
  }

  /// Refuses sizes below that of large segments, in whichever order the settings are given
  /// (c10/core/AllocatorConfig.cpp, parseMaxSplitSize and parseMaxNonSplitRoundingSize).
  void check_against_segments() const {
    for (const auto& [key, bytes] :
         {std::pair{"max_split_size_mb", settings_.max_split_size_bytes},
          std::pair{"max_non_split_rounding_mb", settings_.max_non_split_rounding_bytes}}) {
      if (text_.find(key) == text_.npos) continue;
      require(key, bytes >= settings_.large_segment_bytes, fmt::format("{}", bytes >> 20),
              fmt::format("a whole number of at least {}, as large_segment_size_mb is",
                          settings_.large_segment_bytes >> 20));
    }
  }

  bool truth(const std::string& key, std::string_view value) const {
    require(key, value == "True" || value == "False", value, "True or False");
    return value == "True";
  }

  void read_version(const std::string& key, std::string_view value) {
    require(key, value.starts_with("2.") && value.size() > 2, value,
            "the version of PyTorch, as in torch:2.11");
    const std::int64_t minor = number(key, value.substr(2), 0);
    settings_.equal_blocks = equal_blocks_of(minor);
    settings_.cublaslt_workspace_bytes = cublaslt_workspace_bytes_of(minor);
  }

  std::int64_t number(const std::string& key, std::string_view value, std::int64_t least) const {
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    require(key,
            error == std::errc() && end == value.data() + value.size() && result >= least &&
                result <= (std::int64_t{1} << 40),
            value, fmt::format("a whole number of at least {}", least));
    return result;
  }

  std::int64_t mebibytes(const std::string& key, std::string_view value, std::int64_t least) const {
    return number(key, value, least) << 20;
  }

  /// "600+148+20": several blocks.
  void read_up_front(const std::string& key, std::string_view value) {
    settings_.up_front_bytes.clear();
    for (std::size_t at = 0; at <= value.size();) {
      const std::size_t end = std::min(value.find('+', at), value.size());
      settings_.up_front_bytes.push_back(mebibytes(key, value.substr(at, end - at), 1));
      at = end + 1;
    }
  }

  double fraction(const std::string& key, std::string_view value) const {
    double result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    require(key,
            error == std::errc() && end == value.data() + value.size() && result > 0 && result <= 1,
            value, "a fraction above 0 and at most 1");
    return result;
  }

  std::int64_t divisions(const std::string& key, std::string_view value) const {
    const std::int64_t result = number(key, value, 0);
    require(key, result == 0 || std::has_single_bit(static_cast<std::uint64_t>(result)), value,
            "a power of two, or 0");
    return result;
  }

  /// "4" for all sizes, or "[256:1,512:2,>:8]" by the size in MiB; sizes between keep the number of
  /// the last size before them (AllocatorConfig.cpp, parseRoundUpPower2Divisions).
  void read_divisions(const std::string& key, std::string_view value) {
    auto& table = settings_.roundup_power2_divisions;
    if (!value.starts_with('[')) return table.fill(divisions(key, value));
    require(key, value.ends_with(']'), value, "a list in brackets");
    value = value.substr(1, value.size() - 2);
    bool is_first = true;
    for (std::size_t at = 0, last = 0; at < value.size();) {
      const std::size_t end = std::min(value.find(',', at), value.size());
      const std::string_view pair = value.substr(at, end - at);
      const std::size_t colon = pair.find(':');
      require(key, colon != pair.npos, pair, "pairs of MiB:divisions");
      const std::int64_t count = divisions(key, pair.substr(colon + 1));
      const std::string_view size = pair.substr(0, colon);
      if (size == ">") {
        std::fill(table.begin() + static_cast<std::ptrdiff_t>(last) + 1, table.end(), count);
      } else {
        const std::int64_t mib = number(key, size, 1);
        require(key, std::has_single_bit(static_cast<std::uint64_t>(mib)), size, "a power of two");
        const std::size_t index = interval_of(mib << 20);
        if (is_first)
          std::fill(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(index), count);
        table[index] = count;
        last = index;
      }
      is_first = false;
      at = end + 1;
    }
  }

  void require(const std::string& key, bool holds, std::string_view found,
               const std::string& wanted) const {
    if (!holds)
      fail(key, fmt::format("has the value '{}'", found), fmt::format("Wanted: {}.", wanted));
  }

  [[noreturn]] void unknown(const std::string& key) const {
    static const std::vector<std::string> keys = {"expandable_segments",
                                                  "max_split_size_mb",
                                                  "max_non_split_rounding_mb",
                                                  "large_segment_size_mb",
                                                  "garbage_collection_threshold",
                                                  "per_process_memory_fraction",
                                                  "reserve_up_front_mb",
                                                  "roundup_power2_divisions",
                                                  "torch"};
    const std::string near = did_you_mean(key, keys);
    fail(key, "is no setting of the allocator",
         near.empty() ? fmt::format("Known: {}.", fmt::join(keys, ", ")) : near);
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem,
                         const std::string& advice) const {
    throw Error(fmt::format("allocator settings '{}'", text_), fmt::format("{} {}.", key, problem),
                advice);
  }

  std::string_view text_;
  AllocatorSettings settings_;
};

}  // namespace

EqualBlocks equal_blocks_of_torch() { return equal_blocks_of(torch_minor()); }

std::int64_t cublaslt_workspace_bytes_of_torch() {
  return cublaslt_workspace_bytes_of(torch_minor());
}

AllocatorSettings parse_allocator_settings(std::string_view text) {
  return SettingsReader(text).take();
}

std::int64_t rounded_size(std::int64_t bytes, const AllocatorSettings& settings) {
  if (bytes < smallest_block_bytes) return smallest_block_bytes;
  const std::int64_t divisions = settings.roundup_power2_divisions[interval_of(bytes)];
  if (divisions > 1 && bytes > smallest_block_bytes * divisions)
    return next_division(bytes, divisions);
  return round_up(bytes, smallest_block_bytes);
}

std::int64_t segment_size(std::int64_t rounded, const AllocatorSettings& settings) {
  if (rounded <= small_limit_bytes) return small_segment_bytes;
  if (rounded < own_segment_from_bytes) return settings.large_segment_bytes;
  return round_up(rounded, own_segment_unit_bytes);
}

}  // namespace symprof::profile
