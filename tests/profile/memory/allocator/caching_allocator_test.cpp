#include "profile/memory/allocator/caching_allocator.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "base/error.h"
#include "tests/support/source_folder.h"
#include "truth/allocator/modes.h"
#include "truth/allocator/random_trace.h"

namespace {

using namespace symprof;
using namespace symprof::profile;
using namespace symprof::test;

void add(Fingerprint& fingerprint, const AllocatorStatistics& s) {
  for (const std::int64_t value :
       {s.allocated_bytes.current, s.reserved_bytes.current, s.allocated_bytes.peak,
        s.reserved_bytes.peak, s.requested_bytes.current, s.inactive_split_bytes.current,
        s.alloc_retries})
    fingerprint.add(value);
}

/// A line as truth/allocator/real_allocator.cpp prints it.
std::string line(std::string_view name, std::int64_t step, const AllocatorStatistics& s,
                 const Fingerprint& fingerprint) {
  std::ostringstream text;
  text << name << ',' << step << ',' << s.allocated_bytes.current << ',' << s.reserved_bytes.current
       << ',' << s.allocated_bytes.peak << ',' << s.reserved_bytes.peak << ','
       << s.requested_bytes.current << ',' << s.inactive_split_bytes.current << ','
       << s.alloc_retries << ',' << fingerprint.value();
  return text.str();
}

std::vector<std::string> run_random(const AllocatorMode& mode, EqualBlocks equal_blocks) {
  AllocatorSettings settings = parse_allocator_settings(mode.settings);
  settings.equal_blocks = equal_blocks;
  CachingAllocator allocator(settings, mode.device_bytes);
  RandomTrace trace(mode.seed, most_live_blocks, mode.empties_cache);
  Fingerprint fingerprint;
  std::vector<std::string> lines;
  for (std::int64_t step = 1; step <= trace_steps; ++step) {
    const TraceStep next = trace.next();
    if (next.kind == TraceStep::Kind::empty_cache) {
      allocator.empty_cache();
    } else if (next.kind == TraceStep::Kind::free) {
      allocator.free(next.address);
    } else {
      const std::optional<Address> address = allocator.allocate(next.bytes);
      fingerprint.add(address.value_or(0));
      if (address) trace.add(*address);
    }
    add(fingerprint, allocator.statistics());
    if (step % steps_between_lines == 0)
      lines.push_back(line(mode.name, step, allocator.statistics(), fingerprint));
  }
  return lines;
}

/// The real allocator's lines for one mode.
std::vector<std::string> real_lines(const std::string& version, std::string_view mode) {
  std::ifstream file(test::source_folder() + "/truth/allocator/random_" + version + ".csv");
  std::vector<std::string> lines;
  for (std::string text; std::getline(file, text);)
    if (text.starts_with(std::string(mode) + ",")) lines.push_back(text);
  return lines;
}

void expect_real_lines(const std::string& version, EqualBlocks equal_blocks) {
  for (const AllocatorMode& mode : allocator_modes) {
    const std::vector<std::string> expected = real_lines(version, mode.name);
    REQUIRE_MESSAGE(expected.size() == trace_steps / steps_between_lines, mode.name);
    const std::vector<std::string> simulated = run_random(mode, equal_blocks);
    std::size_t same = 0;
    while (same < expected.size() && simulated[same] == expected[same]) ++same;
    CHECK_MESSAGE(
        same == expected.size(), "first difference before step ", (same + 1) * steps_between_lines,
        ": ", same < expected.size() ? expected[same] + " simulated as " + simulated[same] : "");
  }
}

}  // namespace

TEST_SUITE("allocator") {
  TEST_CASE("a million random steps give the real allocator's addresses and figures") {
    expect_real_lines("2.13", EqualBlocks::oldest_segment);
  }
  TEST_CASE("a million random steps equal PyTorch 2.12") {
    expect_real_lines("2.12", EqualBlocks::oldest_block);
  }
  TEST_CASE("a million random steps equal PyTorch 2.11") {
    expect_real_lines("2.11", EqualBlocks::lowest_address);
  }

  TEST_CASE("PyTorch's version decides the tie between free blocks of one size") {
    const auto taken = [](const std::string& settings) {
      CachingAllocator allocator(parse_allocator_settings(settings), 1 << 30);
      const Address older = *allocator.allocate(10_MiB), newer = *allocator.allocate(10_MiB);
      REQUIRE(newer < older);
      allocator.free(newer);
      allocator.free(older);
      return *allocator.allocate(10_MiB) == older ? "older" : "newer";
    };
    CHECK(taken("torch:2.13") == "older");
    CHECK(taken("torch:2.12") == "older");
    CHECK(taken("torch:2.11") == "newer");
    CHECK_THROWS_AS(parse_allocator_settings("torch:1.13"), Error);
    CHECK_THROWS_AS(parse_allocator_settings("torch:2."), Error);
  }

  TEST_CASE("sizes are rounded by the allocator's constants") {
    const AllocatorSettings settings;
    CHECK(rounded_size(1, settings) == 512);
    CHECK(rounded_size(513, settings) == 2 * 512);
    CHECK(segment_size(512, settings) == 2_MiB);
    CHECK(segment_size(1_MiB, settings) == 2_MiB);
    CHECK(segment_size(1_MiB + 512, settings) == 20_MiB);
    CHECK(segment_size(10_MiB, settings) == 10_MiB);
    CHECK(segment_size(11_MiB, settings) == 12_MiB);
    const AllocatorSettings eighths = parse_allocator_settings("roundup_power2_divisions:8");
    CHECK(rounded_size(1_MiB + 1, eighths) == 1_MiB + 1_MiB / 8);
    CHECK(rounded_size(2_MiB, eighths) == 2_MiB);
    CHECK(rounded_size(8 * 512, eighths) == 8 * 512);  // Too small for eight steps.
  }

  TEST_CASE("a large block keeps up to 1 MiB of unused remainder") {
    CachingAllocator allocator({}, 1 << 30);
    REQUIRE(allocator.allocate(19_MiB));
    CHECK(allocator.statistics().reserved_bytes.current == 20_MiB);
    CHECK(allocator.statistics().allocated_bytes.current == 20_MiB);
    CHECK(allocator.statistics().requested_bytes.current == 19_MiB);
    CachingAllocator exact(parse_allocator_settings("expandable_segments:True"), 1 << 30);
    REQUIRE(exact.allocate(19_MiB));
    CHECK(exact.statistics().allocated_bytes.current == 19_MiB);
    CHECK(exact.statistics().reserved_bytes.current == 20_MiB);
  }

  TEST_CASE("on a full device cached memory is released, then the request fails") {
    CachingAllocator allocator({}, 40_MiB);
    const auto first = allocator.allocate(12_MiB);
    const auto second = allocator.allocate(16_MiB);
    allocator.free(*first);
    CHECK(allocator.allocate(24_MiB));  // 16 + 24: the first segment was released.
    CHECK(allocator.statistics().alloc_retries == 1);
    CHECK_FALSE(allocator.allocate(2_MiB));
    CHECK(allocator.statistics().ooms == 1);
    allocator.free(*second);
    allocator.empty_cache();
    CHECK(allocator.statistics().reserved_bytes.current == 24_MiB);
    CHECK(allocator.statistics().reserved_bytes.peak == 40_MiB);
    allocator.reset_peaks();
    CHECK(allocator.statistics().reserved_bytes.peak == 24_MiB);
  }

  TEST_CASE("a snapshot's blocks tile their segments, and events sum to it") {
    for (const char* text : {"", "expandable_segments:True"}) {
      CachingAllocator allocator(parse_allocator_settings(text), std::int64_t{1} << 32);
      std::int64_t reserved = 0, requested = 0;
      allocator.observe([&](const AllocatorEvent& event) {
        switch (event.action) {
          case AllocatorAction::segment_alloc:
          case AllocatorAction::segment_map:
            reserved += event.bytes;
            break;
          case AllocatorAction::segment_free:
          case AllocatorAction::segment_unmap:
            reserved -= event.bytes;
            break;
          case AllocatorAction::alloc:
            requested += event.bytes;
            break;
          case AllocatorAction::free:
            requested -= event.bytes;
            break;
          case AllocatorAction::oom:
            break;
        }
      });
      RandomTrace trace(1, 60, true);
      for (int step = 0; step < 12000; ++step) {
        const TraceStep next = trace.next();
        if (next.kind == TraceStep::Kind::empty_cache)
          allocator.empty_cache();
        else if (next.kind == TraceStep::Kind::free)
          allocator.free(next.address);
        else if (const auto address = allocator.allocate(next.bytes))
          trace.add(*address);
      }
      std::int64_t segments = 0, allocated = 0;
      for (const SegmentState& segment : allocator.snapshot()) {
        Address end = segment.address;
        for (const BlockState& block : segment.blocks) {
          CHECK(block.address == end);
          end += block.bytes;
          if (block.is_allocated) allocated += block.bytes;
        }
        CHECK(end == segment.address + segment.bytes);
        segments += segment.bytes;
      }
      CHECK(segments == allocator.statistics().reserved_bytes.current);
      CHECK(segments == reserved);
      CHECK(allocated == allocator.statistics().allocated_bytes.current);
      CHECK(requested == allocator.statistics().requested_bytes.current);
    }
  }

  TEST_CASE("settings are parsed as in PyTorch; invalid ones are errors with the key") {
    const AllocatorSettings settings = parse_allocator_settings(
        "max_split_size_mb: 64, roundup_power2_divisions:[256:1,512:2,1024:4,>:8],"
        "pinned_use_background_threads:True,backend:native");
    CHECK(settings.max_split_size_bytes == 64_MiB);
    CHECK(settings.roundup_power2_divisions ==
          std::array<std::int64_t, 16>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8});
    for (const char* bad :
         {"max_split_size_mb", "max_split_size_mb:19", "max_split_size_mb:64MB", "expandable:True",
          "large_segment_size_mb:10", "max_non_split_rounding_mb:19",
          "max_split_size_mb:40,large_segment_size_mb:60", "expandable_segments:yes",
          "roundup_power2_divisions:3", "roundup_power2_divisions:[1:2",
          "garbage_collection_threshold:2", "backend:cudaMallocAsync"})
      CHECK_THROWS_AS(parse_allocator_settings(bad), Error);
    for (const char* good : {"max_split_size_mb:20", "large_segment_size_mb:11",
                             "max_split_size_mb:12,large_segment_size_mb:12"})
      CHECK_NOTHROW(parse_allocator_settings(good));
    CHECK_THROWS_WITH_AS(parse_allocator_settings("max_split_size:64"),
                         doctest::Contains("Did you mean 'max_split_size_mb'?"), Error);
  }

  TEST_CASE("a pool of CUDA graphs keeps its segments until its graphs are gone") {
    CachingAllocator allocator({}, std::int64_t{1} << 34);
    const auto reserved = [&] { return allocator.statistics().reserved_bytes.current; };
    const StreamId pool = -3;
    const Address ours = *allocator.allocate(4_MiB);
    const Address captured = *allocator.allocate(4_MiB, pool);
    CHECK(reserved() == 2 * 20_MiB);
    allocator.free(ours);
    allocator.free(captured);
    allocator.empty_cache();
    CHECK(reserved() == 20_MiB);
    CHECK(allocator.snapshot().at(0).is_of_graphs);
    allocator.keep_pool(pool, false);
    CHECK(reserved() == 20_MiB);
    allocator.empty_cache();
    CHECK(reserved() == 0);
  }
}
