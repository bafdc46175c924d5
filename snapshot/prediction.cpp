#include "snapshot/prediction.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "snapshot/sequences.h"

namespace symprof::snapshot {
namespace {

/// The requests that begin in [first, end).
std::vector<RequestIndex> requests_of(const History& history, EventIndex first, EventIndex end) {
  std::vector<RequestIndex> found;
  for (EventIndex event = first; event < end; ++event) {
    const RequestIndex at = history.request_of_event[event];
    if (at != no_request && history.requests[at].begin == event) found.push_back(at);
  }
  return found;
}

std::vector<std::int64_t> sizes_of(const History& history,
                                   const std::vector<RequestIndex>& requests) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(requests.size());
  for (const RequestIndex request : requests)
    sizes.push_back(history.requests[request].requested_bytes);
  return sizes;
}

HistoryPart part_of(const AnalyzedSnapshot& analyzed, EventIndex first, EventIndex end) {
  const History& history = analyzed.device.history;
  HistoryPart part{.first = first,
                   .end = end,
                   .requests = requests_of(history, first, end),
                   .start = history.start,
                   .allocated = {},
                   .reserved = {}};
  UsageWalk walk(analyzed.snapshot, history);
  for (EventIndex event = 0; event < first && walk.next(); ++event) part.start = walk.usage();
  const EventIndex before = first == 0 ? no_event : first - 1;
  part.allocated = {part.start.allocated, before};
  part.reserved = {part.start.reserved, before};
  for (EventIndex event = first; event < end && walk.next(); ++event) {
    if (walk.usage().allocated > part.allocated.bytes)
      part.allocated = {walk.usage().allocated, event};
    if (walk.usage().reserved > part.reserved.bytes) part.reserved = {walk.usage().reserved, event};
  }
  return part;
}

void choose_predicted_part(const AnalyzedSnapshot& measured, const AnalyzedSnapshot& predicted,
                           Prediction& prediction) {
  const History& history = predicted.device.history;
  const auto events = static_cast<EventIndex>(history.request_of_event.size());
  const std::vector<RequestIndex> all = requests_of(history, 0, events);
  const Stretch stretch = nearest_stretch(
      sizes_of(measured.device.history, prediction.measured.requests), sizes_of(history, all));
  const EventIndex first =
      stretch.begin < all.size() ? history.requests[all[stretch.begin]].begin : events;
  const EventIndex end =
      stretch.end > stretch.begin ? history.requests[all[stretch.end - 1]].begin + 1 : first;
  prediction.predicted = part_of(predicted, first, end);
}

/// Sums up, by cause, what is held at the two peaks.
class Causes {
 public:
  Causes(const AnalyzedSnapshot& measured, const AnalyzedSnapshot& predicted,
         Prediction& prediction)
      : measured_(measured), predicted_(predicted), prediction_(prediction) {}

  void run() {
    PeakDifference& before = differences_[{}];
    before.measured_bytes = held_before(measured_.device.history, prediction_.measured);
    before.predicted_bytes = held_before(predicted_.device.history, prediction_.predicted);
    const History& measured = measured_.device.history;
    const History& predicted = predicted_.device.history;
    for (const ElementPair& pair :
         align_sequences(sizes_of(measured, prediction_.measured.requests),
                         sizes_of(predicted, prediction_.predicted.requests)))
      add({pair.first == no_element ? no_request : prediction_.measured.requests[pair.first],
           pair.second == no_element ? no_request : prediction_.predicted.requests[pair.second]});
    for (auto& [key, difference] : differences_)
      if (difference.bytes() != 0 || is_of_requests(difference.cause))
        prediction_.differences.push_back(std::move(difference));
    std::ranges::stable_sort(
        prediction_.differences, std::ranges::greater(),
        [](const PeakDifference& difference) { return std::abs(difference.bytes()); });
  }

 private:
  static bool is_of_requests(PeakCause cause) {
    return cause != PeakCause::before_part && cause != PeakCause::other_moment;
  }

  /// Bytes at the part's peak that were held when it began.
  static std::int64_t held_before(const History& history, const HistoryPart& part) {
    std::int64_t bytes = 0;
    for (const Request& request : history.requests)
      if ((request.begin == no_event || request.begin < part.first) &&
          request.is_held_at(part.allocated.event))
        bytes += request.bytes;
    return bytes;
  }

  static std::int64_t bytes_at_peak(const Request* request, const HistoryPart& part) {
    return request != nullptr && request->is_held_at(part.allocated.event) ? request->bytes : 0;
  }

  void add(const RequestPair& pair) {
    const Request* measured =
        pair.measured == no_request ? nullptr : &measured_.device.history.requests[pair.measured];
    const Request* predicted = pair.predicted == no_request
                                   ? nullptr
                                   : &predicted_.device.history.requests[pair.predicted];
    const PeakCause cause = cause_of(measured, predicted);
    const std::int64_t measured_bytes = bytes_at_peak(measured, prediction_.measured);
    const std::int64_t predicted_bytes = bytes_at_peak(predicted, prediction_.predicted);
    if (cause != PeakCause::other_moment)
      prediction_.differing.push_back(pair);
    else if (++prediction_.equal_requests; measured_bytes == predicted_bytes)
      return;
    PeakDifference& difference = difference_of(cause, measured, predicted);
    ++difference.requests;
    difference.measured_bytes += measured_bytes;
    difference.predicted_bytes += predicted_bytes;
  }

  static PeakCause cause_of(const Request* measured, const Request* predicted) {
    if (predicted == nullptr) return PeakCause::measured_only;
    if (measured == nullptr) return PeakCause::predicted_only;
    return measured->requested_bytes == predicted->requested_bytes ? PeakCause::other_moment
                                                                   : PeakCause::other_size;
  }

  PeakDifference& difference_of(PeakCause cause, const Request* measured,
                                const Request* predicted) {
    PeakDifference found{.cause = cause};
    if (measured != nullptr)
      found.measured = text_of(measured_.sites.line(measured_.sites.line_of(*measured)));
    if (predicted != nullptr) {
      const Line& line = predicted_.sites.line(predicted_.sites.line_of(*predicted));
      found.predicted = line.function.empty() ? text_of(line) : line.function;
    }
    return differences_.try_emplace({cause, found.measured, found.predicted}, found).first->second;
  }

  const AnalyzedSnapshot &measured_, &predicted_;
  Prediction& prediction_;
  std::map<std::tuple<PeakCause, std::string, std::string>, PeakDifference> differences_;
};

}  // namespace

double Prediction::equal_share() const {
  const std::size_t requests = std::max(measured.requests.size(), predicted.requests.size());
  return requests == 0 ? 0 : static_cast<double>(equal_requests) / static_cast<double>(requests);
}

Prediction compare_with_prediction(const AnalyzedSnapshot& measured,
                                   const AnalyzedSnapshot& predicted) {
  const auto compare_part = [&](EventIndex first, EventIndex end, std::int64_t step) {
    Prediction prediction{.measured = part_of(measured, first, end), .measured_step = step};
    choose_predicted_part(measured, predicted, prediction);
    Causes(measured, predicted, prediction).run();
    return prediction;
  };
  const auto events = static_cast<EventIndex>(measured.device.history.request_of_event.size());
  Prediction all = compare_part(0, events, -1);
  const std::vector<EventIndex>& begins = measured.device.steps.begins;
  if (begins.size() < 2) return all;
  constexpr double enough = 0.9;  // What repeats may be the layers of one step.
  // The last whole step: nothing is made for the first time in it.
  Prediction step = compare_part(begins[begins.size() - 2], begins.back(),
                                 static_cast<std::int64_t>(begins.size()) - 2);
  return all.equal_share() < enough * step.equal_share() ? step : all;
}

}  // namespace symprof::snapshot
