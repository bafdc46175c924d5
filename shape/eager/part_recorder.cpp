#include "shape/eager/part_recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace symprof::shape {

void PartRecorder::begin() {
  const auto first = static_cast<NodeId>(recording_.nodes.size());
  recording_.nodes.push_back({.name = "other", .op = "other", .kind = NodeKind::loss});
  recording_.nodes.push_back({.name = "optimizer", .op = "optimizer", .kind = NodeKind::optimizer});
  parts_.push_back({.range = {.first_call = static_cast<CallId>(recording_.calls.size()),
                              .first_node = first,
                              .first_event = recording_.events.size(),
                              .first_save = saves_.size()}});
}

void PartRecorder::close(ProgramPart& part) const {
  part.range.end_call = static_cast<CallId>(recording_.calls.size());
  part.range.end_node = static_cast<NodeId>(recording_.nodes.size());
  part.range.end_event = recording_.events.size();
  part.range.end_save = saves_.size();
}

std::optional<NodeId> PartRecorder::own_place(NodeId node) const {
  const auto first = [](const ProgramPart& part) { return part.range.first_node; };
  const auto after = std::ranges::upper_bound(parts_, node, {}, first);
  if (after == parts_.begin() || node - first(*std::prev(after)) > 1) return std::nullopt;
  return node - first(*std::prev(after));
}

void PartRecorder::end(PartEnd end) {
  leave_pass();
  finish(end);
}

void PartRecorder::finish(PartEnd end) {
  ProgramPart& part = parts_.back();
  close(part);
  part.end = end;
  const bool follows_update = parts_.size() > 1 && parts_[parts_.size() - 2].end == PartEnd::update;
  if (end == PartEnd::update && (part.has_forward || !follows_update)) ++updates_;
  if (end == PartEnd::mark) ++marks_;
  begin();
}

void PartRecorder::begin_gradient_free_pass() {
  if (is_paused_) return;
  leave_pass();
  if (!has_forward()) first_pass_call_ = static_cast<CallId>(recording_.calls.size());
}

void PartRecorder::end_gradient_free_pass() {
  if (is_paused_) return;
  const CallId first = std::exchange(first_pass_call_, none);
  if (first == none || has_forward()) return;
  parts_.back().first_pass_call = first;
  is_behind_pass_ = true;
}

void PartRecorder::leave_pass() {
  if (is_paused_) return;
  if (std::exchange(is_behind_pass_, false)) finish(PartEnd::gradient_free);
}

void PartRecorder::note_forward() {
  if (is_paused_) return;
  leave_pass();
  parts_.back().has_forward = true;
}

void PartRecorder::note_pass() {
  if (is_paused_) return;
  note_forward();
  ++parts_.back().range.passes;
}

void PartRecorder::note_optimizer(const ProgramOptimizer& optimizer) {
  if (is_paused_) return;
  if (!std::exchange(has_optimizers_, true))
    updates_ = 0;  // Earlier writes to parameters are no updates.
  std::vector<ProgramOptimizer>& optimizers = parts_.back().range.optimizers;
  if (std::ranges::find(optimizers, optimizer) == optimizers.end()) optimizers.push_back(optimizer);
}

std::vector<ProgramPart> PartRecorder::parts() const {
  std::vector<ProgramPart> parts = parts_;
  close(parts.back());
  if (is_behind_pass_) parts.back().end = PartEnd::gradient_free;
  return parts;
}

}  // namespace symprof::shape
