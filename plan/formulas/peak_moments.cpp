#include "plan/formulas/peak_moments.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "profile/memory/step_memory.h"

namespace symprof::plan {
namespace {

constexpr std::size_t most_moments = 4;  // More would be unreadable.

/// Indices in BytesByCall at which some sizes have their peak.
std::vector<std::size_t> peak_places(const std::map<Sizes, BytesByCall>& known) {
  std::set<std::size_t> places;
  for (const auto& [sizes, bytes] : known)
    places.insert(static_cast<std::size_t>(std::ranges::max_element(bytes) - bytes.begin()));
  return {places.begin(), places.end()};
}

bool is_less(const Rational& left, const Rational& right) { return (left - right).is_negative(); }

/// Empty where one of the formulas is missing.
std::vector<PeakMoment> moments_at(const std::vector<std::size_t>& places,
                                   const std::vector<Formula>& formulas) {
  std::vector<PeakMoment> moments;
  for (const Formula& formula : formulas) {
    if (!formula.polynomial) return {};
    moments.push_back({static_cast<CallId>(places[moments.size()]) - 1, formula});
  }
  return moments;
}

/// True if the largest of `moments` is the peak wherever all of them hold.
bool are_the_peak(const std::vector<PeakMoment>& moments,
                  const std::map<Sizes, BytesByCall>& known) {
  if (moments.empty()) return false;
  for (const auto& entry : known) {
    const Sizes& sizes = entry.first;
    const bool hold = std::ranges::all_of(
        moments, [&](const PeakMoment& moment) { return holds_at(moment.formula, sizes); });
    if (!hold) continue;
    const Rational peak(std::ranges::max(entry.second));
    Rational largest;
    for (const PeakMoment& moment : moments)
      largest = std::max(largest, moment.formula.polynomial->at(sizes), is_less);
    if (largest != peak) return false;
  }
  return true;
}

}  // namespace

BytesByCall requested_by_call(const Recording& recording, const DeviceSpec& device,
                              const profile::LoopOptions& loop) {
  BytesByCall most(recording.calls.size() + 1);
  std::int64_t held = 0;
  const auto observe = [&](const profile::AllocatorEvent& event, CallId call) {
    if (event.action == profile::AllocatorAction::alloc) held += event.bytes;
    if (event.action == profile::AllocatorAction::free) held -= event.bytes;
    std::int64_t& peak = most[static_cast<std::size_t>(call) + 1];
    peak = std::max(peak, held);
  };
  profile::simulate_step_memory(recording, device, {.loop = loop, .observer = observe});
  return most;
}

std::vector<PeakMoment> find_peak_moments(const std::vector<Variable>& variables,
                                          const std::map<Sizes, BytesByCall>& known,
                                          const std::function<void(const Sizes&)>& measure) {
  const std::vector<std::size_t> places = peak_places(known);
  if (places.size() < 2 || places.size() > most_moments) return {};
  const std::size_t calls = known.begin()->second.size();
  const Measure bytes_at_places = [&](const Sizes& sizes) {
    if (!known.contains(sizes)) measure(sizes);
    const BytesByCall& bytes = known.at(sizes);
    if (bytes.size() != calls) throw Error("", "other calls run at other sizes");
    std::vector<std::int64_t> figures;
    figures.reserve(places.size());
    for (const std::size_t place : places) figures.push_back(bytes[place]);
    return figures;
  };
  try {
    const std::vector<PeakMoment> moments =
        moments_at(places, find_formulas(variables, bytes_at_places).formulas);
    return are_the_peak(moments, known) ? moments : std::vector<PeakMoment>{};
  } catch (const Error&) {
    return {};  // The calls exist at too few sizes.
  }
}

}  // namespace symprof::plan
