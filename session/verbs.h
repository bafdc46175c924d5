// The verbs of symprof, for every caller: the tables of settings and of formats name these.
//
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace symprof {

enum class Verb : std::uint8_t {
  profile,
  compare_costs,
  fit,
  plan_checkpoint,
  plan_throughput,
  plan_parallel,
  measure,
  devices,
  ops,
  show,
  stats,
  optimize,
  compare,
  dump,
  restore,
  dot,
  engine,
  memory,
  run,             ///< A program that runs itself, on fake tensors: of the Python package.
  profile_module,  ///< A Python module, in a step that the package builds.
};

/// "plan checkpoint": as the command line calls it.
constexpr std::string_view name(Verb verb) {
  constexpr std::string_view names[] = {"profile",
                                        "compare",
                                        "fit",
                                        "plan checkpoint",
                                        "plan throughput",
                                        "plan parallel",
                                        "measure",
                                        "devices",
                                        "ops",
                                        "show",
                                        "stats",
                                        "optimize",
                                        "compare",
                                        "dump",
                                        "restore",
                                        "dot",
                                        "engine",
                                        "memory",
                                        "run",
                                        "profile"};
  return names[static_cast<std::size_t>(verb)];
}

class Verbs {
 public:
  constexpr Verbs(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) bits_ |= bit(verb);
  }
  constexpr bool contains(Verb verb) const { return (bits_ & bit(verb)) != 0; }
  constexpr Verbs operator|(Verbs other) const {
    other.bits_ |= bits_;
    return other;
  }
  constexpr Verbs operator-(Verbs other) const {
    other.bits_ = bits_ & ~other.bits_;
    return other;
  }

 private:
  static constexpr std::uint32_t bit(Verb verb) { return 1U << static_cast<unsigned>(verb); }
  std::uint32_t bits_ = 0;
};

/// Verbs that run the step of a model file.
inline constexpr Verbs verbs_of_steps = {Verb::profile,
                                         Verb::compare_costs,
                                         Verb::fit,
                                         Verb::plan_checkpoint,
                                         Verb::plan_throughput,
                                         Verb::plan_parallel,
                                         Verb::measure,
                                         Verb::show,
                                         Verb::dot};

}  // namespace symprof
