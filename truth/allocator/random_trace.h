// A random sequence of requests and frees that every program makes alike, for one allocator or two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace symprof::test {

/// What the real allocator and the simulated one are asked to do next.
struct TraceStep {
  enum class Kind { allocate, free, empty_cache } kind = Kind::allocate;
  std::int64_t bytes = 0;    // allocate
  std::int64_t address = 0;  // free
};

/// Sizes of every class of the allocator: a few bytes, up to 1 MiB, up to 10 MiB, up to 64 MiB, and
/// multiples of 512 KiB that are asked for again and again. About `most_live` blocks live.
class RandomTrace {
 public:
  RandomTrace(std::uint64_t seed, std::size_t most_live, bool empties_cache)
      : state_(seed), most_live_(most_live), empties_cache_(empties_cache) {}

  TraceStep next() {
    ++steps_;
    if (empties_cache_ && steps_ % 5000 == 0) return {.kind = TraceStep::Kind::empty_cache};
    const std::uint64_t percent = live_.size() < most_live_ ? 55 : 45;
    if (live_.empty() || draw(100) < percent) return {.bytes = size()};
    const std::size_t at = draw(live_.size());
    const std::int64_t address = live_[at];
    live_[at] = live_.back();
    live_.pop_back();
    return {.kind = TraceStep::Kind::free, .address = address};
  }

  /// The address that an `allocate` got.
  void add(std::int64_t address) { live_.push_back(address); }

 private:
  std::int64_t size() {
    switch (draw(5)) {
      case 0:
        return static_cast<std::int64_t>(draw(4096)) + 1;
      case 1:
        return static_cast<std::int64_t>(draw(1 << 20)) + 1;
      case 2:
        return static_cast<std::int64_t>(draw(10 << 20)) + 1;
      case 3:
        return static_cast<std::int64_t>(draw(64 << 20)) + 1;
      default:
        return static_cast<std::int64_t>(draw(40) + 1) << 19;
    }
  }

  // SplitMix64.
  std::uint64_t draw(std::uint64_t below) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
  }

  std::uint64_t state_;
  std::size_t most_live_;
  bool empties_cache_;
  std::uint64_t steps_ = 0;
  std::vector<std::int64_t> live_;
};

/// One number for all addresses and figures so far (FNV-1a).
class Fingerprint {
 public:
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      value_ ^= (static_cast<std::uint64_t>(value) >> shift) & 0xff;
      value_ *= 0x100000001b3;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace symprof::test
