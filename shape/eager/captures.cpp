#include "shape/eager/captures.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <utility>

#include "meta/fake/simulated_guard.h"
#include "shape/eager/replay.h"

namespace symprof::shape {

Captures::~Captures() {
  if (is_capturing_) meta::set_capturing(false);
}

void Captures::note(std::function<void(ProgramNodes&)> tell) {
  captures_.back().marks.push_back({static_cast<CallId>(recorder_.recording().calls.size()),
                                    recorder_.saves().size(), at::GradMode::is_enabled(),
                                    std::move(tell)});
}

std::int64_t Captures::capture_stream_of(std::int64_t pool, std::int64_t stream) {
  std::vector<CaptureStream>& known = recorder_.recording().capture_streams;
  const auto found = std::ranges::find_if(known, [&](const CaptureStream& capture) {
    return capture.pool == pool && capture.stream == stream;
  });
  const auto index = static_cast<std::size_t>(found - known.begin());
  if (found == known.end()) known.push_back({pool, stream});
  return capture_stream(index);
}

std::int64_t Captures::begin(std::int64_t pool, std::int64_t stream) {
  nodes_.begin_capture();
  is_capturing_ = true;
  meta::set_capturing(true);
  const Recording& recording = recorder_.recording();
  captures_.push_back({.stream = capture_stream_of(pool, stream),
                       .first_call = static_cast<CallId>(recording.calls.size()),
                       .first_node = static_cast<NodeId>(recording.nodes.size()),
                       .first_event = recording.events.size(),
                       .first_save = recorder_.saves().size()});
  recorder_.ask_allocator(AllocatorRequest::Kind::keep_pool, captures_.back().stream);
  return captures_.back().stream;
}

std::int64_t Captures::stream_of(std::int64_t stream) {
  const std::int64_t own = captures_.back().stream;
  return capture_stream_of(recorder_.recording().capture_streams[capture_index(own)].pool, stream);
}

std::size_t Captures::end() {
  const Recording& recording = recorder_.recording();
  Capture& capture = captures_.back();
  capture.end_call = static_cast<CallId>(recording.calls.size());
  capture.end_node = static_cast<NodeId>(recording.nodes.size());
  capture.end_event = recording.events.size();
  capture.end_save = recorder_.saves().size();
  is_capturing_ = false;
  meta::set_capturing(false);
  nodes_.end_capture();
  return captures_.size() - 1;
}

void Captures::release(std::size_t capture) {
  recorder_.ask_allocator(AllocatorRequest::Kind::release_pool, captures_.at(capture).stream);
}

void Captures::note_frees() {
  const std::vector<MemoryEvent>& events = recorder_.recording().events;
  for (; noted_events_ < events.size(); ++noted_events_)
    if (events[noted_events_].kind == EventKind::free) freed_.insert(events[noted_events_].storage);
}

void Captures::replay(std::size_t capture) {
  note_frees();
  Replay(recorder_, nodes_, last_, freed_, captures_.at(capture)).run();
}

}  // namespace symprof::shape
