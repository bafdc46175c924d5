#include "record/program_parts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace symprof {
namespace {

void extend(ProgramStep& step, const ProgramStep& later) {
  step.end_call = later.end_call;
  step.end_node = later.end_node;
  step.end_event = later.end_event;
  step.end_save = later.end_save;
  step.later_parts.push_back(later.first_node);
  step.passes += later.passes;
  for (const ProgramOptimizer& optimizer : later.optimizers)
    if (std::ranges::find(step.optimizers, optimizer) == step.optimizers.end())
      step.optimizers.push_back(optimizer);
}

ProgramStep joined(const std::vector<ProgramPart>& parts, std::size_t first, std::size_t end) {
  ProgramStep step = parts[first].range;
  for (std::size_t i = first + 1; i < end; ++i) extend(step, parts[i].range);
  return step;
}

class Grouping {
 public:
  Grouping(const std::vector<ProgramPart>& parts, const Recording& recording,
           const std::vector<NodeId>& gradient_free)
      : parts_(parts), recording_(recording), gradient_free_(gradient_free) {}

  ProgramSteps run() {
    const auto ends = [&](PartEnd end) {
      return std::ranges::find(parts_, end, &ProgramPart::end) != parts_.end();
    };
    end_ = ends(PartEnd::mark) ? PartEnd::mark : PartEnd::update;
    has_optimizers_ =
        end_ == PartEnd::update && std::ranges::any_of(parts_, [](const ProgramPart& part) {
          return !part.range.optimizers.empty();
        });
    if (!ends(end_)) {
      found_.steps.push_back(joined(parts_, 0, parts_.size()));
      return std::move(found_);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (ends_step(parts_[i]) || i + 1 == parts_.size()) close(i);
    return std::move(found_);
  }

 private:
  /// In a program with optimizers, its own writes to parameters (SAM's ascent step) are no update.
  bool ends_step(const ProgramPart& part) const {
    return part.end == end_ && (!has_optimizers_ || !part.range.optimizers.empty());
  }

  /// Closes a step with part `last`.
  void close(std::size_t last) {
    const ProgramPart& part = parts_[last];
    const bool is_update_alone =
        first_ == last && end_ == PartEnd::update && !part.has_forward && found_.finished > 0;
    if (is_update_alone && part.end == PartEnd::update) {
      extend(found_.steps.back(), part.range);
    } else {
      const std::size_t first = first_of_step(last);
      if (first > first_)
        found_.between.push_back({.range = joined(parts_, first_, first),
                                  .before = found_.steps.size(),
                                  .passes = static_cast<int>(first - first_)});
      found_.steps.push_back(joined(parts_, first, last + 1));
      if (ends_step(part)) ++found_.finished;
    }
    first_ = last + 1;
  }

  /// The first gradient-free pass before part `last` whose results its forward pass reads.
  std::size_t first_of_step(std::size_t last) const {
    std::size_t trained = first_;
    while (trained < last && parts_[trained].end == PartEnd::gradient_free) ++trained;
    if (std::none_of(parts_.begin() + static_cast<std::ptrdiff_t>(trained),
                     parts_.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                     [](const ProgramPart& part) { return part.has_forward; }))
      return first_;
    const CallId earliest =
        earliest_read(parts_[trained].range.first_call, parts_[last].range.end_call);
    std::size_t first = first_;
    while (first < trained && !makes(parts_[first], earliest)) ++first;
    return first;
  }

  /// True if the pass has a result made at or after `earliest`, the first result that is read.
  static bool makes(const ProgramPart& part, CallId earliest) {
    return earliest != none && part.range.end_call > earliest;
  }

  bool is_in_pass(CallId maker) const {
    const auto after = std::ranges::upper_bound(
        parts_, maker, {}, [](const ProgramPart& part) { return part.range.first_call; });
    if (after == parts_.begin()) return false;
    const ProgramPart& part = *std::prev(after);
    return part.end == PartEnd::gradient_free && maker >= part.first_pass_call &&
           maker < part.range.end_call;
  }

  /// The first maker among the results of gradient-free passes that are read by calls with
  /// gradients. Calls without gradients in between (a mean of two teachers' logits) pass results
  /// on.
  CallId earliest_read(CallId begin, CallId end) const {
    CallId earliest = none;
    std::unordered_map<StorageId, CallId> handed_on;
    for (CallId id = parts_[first_].range.first_call; id < end; ++id) {
      const CallRecord& call = recording_.calls[static_cast<std::size_t>(id)];
      if (call.phase != Phase::forward || call.node == none) continue;
      CallId maker = none;
      for (const TensorRecord& input : call.inputs)
        maker = first_of(maker, maker_in_pass(input.storage, begin, handed_on));
      if (maker == none) continue;
      if (id >= begin && !std::ranges::binary_search(gradient_free_, call.node))
        earliest = first_of(earliest, maker);
      else
        for (const TensorRecord& output : call.outputs)
          if (is_made_since_last_step(output.storage)) handed_on[output.storage] = maker;
    }
    return earliest;
  }

  static CallId first_of(CallId a, CallId b) { return a == none || (b != none && b < a) ? b : a; }

  CallId maker_in_pass(StorageId storage, CallId begin,
                       const std::unordered_map<StorageId, CallId>& handed_on) const {
    if (const auto found = handed_on.find(storage); found != handed_on.end()) return found->second;
    const CallId maker = recording_.storages[static_cast<std::size_t>(storage)].allocated_by;
    return is_made_since_last_step(storage) && maker < begin && is_in_pass(maker) ? maker : none;
  }

  /// False for a buffer that each pass overwrites: it existed before.
  bool is_made_since_last_step(StorageId storage) const {
    return storage != none && recording_.storages[static_cast<std::size_t>(storage)].allocated_by >=
                                  parts_[first_].range.first_call;
  }

  const std::vector<ProgramPart>& parts_;
  const Recording& recording_;
  const std::vector<NodeId>& gradient_free_;
  PartEnd end_ = PartEnd::update;
  bool has_optimizers_ = false;  // Optimizers end steps, unless marks do.
  std::size_t first_ = 0;        // The first part that is in no step yet.
  ProgramSteps found_;
};

}  // namespace

ProgramSteps steps_of(const std::vector<ProgramPart>& parts, const Recording& recording,
                      const std::vector<NodeId>& gradient_free) {
  return Grouping(parts, recording, gradient_free).run();
}

}  // namespace symprof
