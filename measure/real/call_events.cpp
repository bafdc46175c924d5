#include "measure/real/call_events.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>
#include <utility>

namespace symprof::measure::real {

/// Suppresses nested operators on its thread during its lifetime.
struct CallEvents::Open : at::ObserverContext {
  Open(CallPlaces::Place where, c10::Event event) : place(where), begin(std::move(event)) {}
  at::DisableRecordFunctionGuard without_inner;
  CallPlaces::Place place;
  c10::Event begin;
};

std::atomic<CallEvents*> CallEvents::current_ = nullptr;

CallEvents::CallEvents(CallPlaces& places, c10::Device device, std::size_t nodes)
    : places_(places),
      device_(device),
      nodes_(nodes),
      handle_(at::addGlobalCallback(at::RecordFunctionCallback(&CallEvents::begin, &CallEvents::end)
                                        .scopes({at::RecordScope::FUNCTION}))) {
  current_ = this;
}

CallEvents::~CallEvents() {
  at::removeCallback(handle_);
  current_ = nullptr;
}

c10::Event CallEvents::recorded() const {
  c10::Event event(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  event.record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  return event;
}

std::vector<Times> CallEvents::take() {
  std::vector<Pair> pairs;
  {
    const std::lock_guard lock(mutex_);
    pairs = std::exchange(pairs_, {});
  }
  std::vector<Times> times(nodes_);
  for (const Pair& pair : pairs)
    if (pair.place.node != none)
      times.at(static_cast<std::size_t>(pair.place.node)).in(pair.place.phase) +=
          std::llround(pair.begin.elapsedTime(pair.end) * 1e6);
  return times;
}

std::unique_ptr<at::ObserverContext> CallEvents::begin(const at::RecordFunction& function) {
  CallEvents* events = current_;
  if (events == nullptr || !is_operator(function)) return nullptr;
  const std::lock_guard lock(events->mutex_);
  return std::make_unique<Open>(events->places_.now(), events->recorded());
}

void CallEvents::end(const at::RecordFunction&, at::ObserverContext* context) {
  CallEvents* events = current_;
  if (events == nullptr || context == nullptr) return;
  auto& open = static_cast<Open&>(*context);
  c10::Event end = events->recorded();
  const std::lock_guard lock(events->mutex_);
  events->pairs_.push_back({open.place, std::move(open.begin), std::move(end)});
}

}  // namespace symprof::measure::real
