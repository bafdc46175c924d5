#include "measure/real/call_clock.h"

#include <chrono>

namespace symprof::measure::real {
namespace {

thread_local CallClock* current_clock = nullptr;

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct CallClock::Open : at::ObserverContext {
  std::int64_t begin_ns = 0, inner_ns = 0;
  Open* around = nullptr;
};

CallClock::CallClock(CallPlaces& places, std::size_t nodes)
    : places_(places),
      handle_(
          at::addThreadLocalCallback(at::RecordFunctionCallback(&CallClock::begin, &CallClock::end)
                                         .scopes({at::RecordScope::FUNCTION}))),
      times_(nodes) {
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

std::unique_ptr<at::ObserverContext> CallClock::begin(const at::RecordFunction&) {
  if (current_clock == nullptr) return nullptr;
  auto open = std::make_unique<Open>();
  open->around = current_clock->innermost_;
  current_clock->innermost_ = open.get();
  open->begin_ns = now_ns();
  return open;
}

void CallClock::end(const at::RecordFunction&, at::ObserverContext* context) {
  if (current_clock == nullptr || context == nullptr) return;
  const auto* open = static_cast<Open*>(context);
  const std::int64_t all = now_ns() - open->begin_ns;
  current_clock->innermost_ = open->around;
  if (open->around != nullptr) open->around->inner_ns += all;
  const CallPlaces::Place place = current_clock->places_.now();
  if (place.node != none)
    current_clock->times_.at(static_cast<std::size_t>(place.node)).in(place.phase) +=
        all - open->inner_ns;
}

}  // namespace symprof::measure::real
