#include "measure/real/call_clock.h"

#include <chrono>
#include <utility>

namespace symprof::measure::real {
namespace {

thread_local CallClock* current_clock = nullptr;

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Suppresses nested operators during its lifetime.
struct CallClock::Open : at::ObserverContext {
  at::DisableRecordFunctionGuard without_inner;
  std::int64_t begin_ns = now_ns();
};

CallClock::CallClock(CallPlaces& places, std::size_t nodes, bool keeps_calls)
    : places_(places),
      handle_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(&CallClock::begin, &CallClock::end)
                                         .scopes({at::RecordScope::FUNCTION}))),
      times_(nodes),
      keeps_calls_(keeps_calls) {
  current_clock = this;
}

CallClock::~CallClock() {
  at::removeCallback(handle_);
  current_clock = nullptr;
}

std::vector<Times> CallClock::take() {
  std::vector<Times> taken(times_.size());
  std::swap(taken, times_);
  return taken;
}

std::vector<TimelineCall> CallClock::take_calls() { return std::exchange(calls_, {}); }

std::unique_ptr<at::ObserverContext> CallClock::begin(const at::RecordFunction& function) {
  if (current_clock == nullptr || !is_operator(function)) return nullptr;
  return std::make_unique<Open>();
}

void CallClock::end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (current_clock == nullptr || context == nullptr) return;
  const std::int64_t begin_ns = static_cast<Open*>(context)->begin_ns, end_ns = now_ns();
  const CallPlaces::Place place = current_clock->places_.now();
  if (place.node != none)
    current_clock->times_.at(static_cast<std::size_t>(place.node)).in(place.phase) +=
        end_ns - begin_ns;
  if (current_clock->keeps_calls_)
    current_clock->calls_.push_back({.op = function.name(),
                                     .node = place.node,
                                     .phase = place.phase,
                                     .begin_ns = begin_ns,
                                     .end_ns = end_ns});
}

}  // namespace symprof::measure::real
