// Random numbers that are reproducible on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

namespace symprof::workbench {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), with normal numbers by Box and Muller.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  /// In [0, below).
  std::int64_t whole(std::int64_t below) {
    return below < 2 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(below));
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In (0, 1].
  double uniform() { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

  std::uint64_t state_;
};

/// FNV-1a: unlike std::hash, the same on every machine.
inline std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace symprof::workbench
