#include "report/profile/measured_memory.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/profile/memory_text.h"
#include "report/profile/tried_settings.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using snapshot::PeakCause;
using snapshot::PeakDifference;
using snapshot::Prediction;
using snapshot::RequestIndex;
using snapshot::RequestPair;

constexpr double close_allocated = 0.005, close_reserved = 0.03;

double error_of(std::int64_t measured, std::int64_t predicted) {
  if (measured == 0) return predicted == 0 ? 0 : 1;
  return static_cast<double>(predicted - measured) / static_cast<double>(measured);
}

/// "3.20 % too low".
std::string error_text(double error) {
  return fmt::format("{:.2f} % too {}", 100 * std::abs(error), error < 0 ? "low" : "high");
}

std::string_view cause_name(PeakCause cause) {
  switch (cause) {
    case PeakCause::before_part:
      return "before";
    case PeakCause::other_size:
      return "other_size";
    case PeakCause::measured_only:
      return "measured_only";
    case PeakCause::predicted_only:
      return "predicted_only";
    case PeakCause::other_moment:
      return "other_moment";
  }
  return "?";
}

std::string_view part_name(const Prediction& prediction) {
  return prediction.measured_step < 0 ? "recording" : "step";
}

/// The measured column of a row.
std::string measured_text(const PeakDifference& difference, const Prediction& prediction) {
  if (difference.cause == PeakCause::before_part)
    return fmt::format("held before the {}", part_name(prediction));
  return difference.cause == PeakCause::predicted_only ? "not measured" : difference.measured;
}
std::string predicted_text(const PeakDifference& difference) {
  if (difference.cause == PeakCause::other_moment)
    return difference.predicted + (difference.measured_bytes == 0 || difference.predicted_bytes == 0
                                       ? ", equal: held at one peak only"
                                       : ", equal, in blocks of other sizes");
  return difference.cause == PeakCause::measured_only ? "not predicted" : difference.predicted;
}

TextRow row_of(const PeakDifference& difference, const Prediction& prediction) {
  return {{{measured_text(difference, prediction)},
           {predicted_text(difference)},
           {difference.requests == 0 ? std::string() : group_digits(difference.requests)},
           {format_bytes(difference.measured_bytes)},
           {format_bytes(difference.predicted_bytes)},
           {signed_bytes(difference.bytes())}}};
}

TextTable table_of(const Prediction& prediction, int top) {
  TextTable table{.columns = {{"Measured, at the peak", Align::left, 24},
                              {"Predicted", Align::left, 24},
                              {"Requests", Align::number},
                              {"Measured", Align::number},
                              {"Predicted", Align::number},
                              {"Difference", Align::number}},
                  .rows = {}};
  std::int64_t others = 0, bytes = 0;
  for (const PeakDifference& difference : prediction.differences) {
    if (difference.bytes() == 0) continue;
    if (table.rows.size() < static_cast<std::size_t>(top))
      table.rows.push_back(row_of(difference, prediction));
    else
      ++others, bytes += difference.bytes();
  }
  if (others > 0)
    table.rows.push_back(
        {{{fmt::format("[{} others]", others)}, {""}, {""}, {""}, {""}, {signed_bytes(bytes)}}});
  return table;
}

/// "8.00 MiB at model.py:54 forward".
std::string request_text(const SnapshotAnswer& answer, RequestIndex at, const char* by) {
  const snapshot::Request& request = answer.device.history.requests[at];
  return fmt::format("{} {} {}", format_bytes(request.requested_bytes), by,
                     text_of(answer.sites.line(answer.sites.line_of(request))));
}

/// The request's number in its part, from 1.
std::string number_of(RequestIndex request, const snapshot::HistoryPart& part) {
  const auto at = std::ranges::lower_bound(part.requests, request) - part.requests.begin();
  return fmt::format("request {} of {}", group_digits(at + 1),
                     group_digits(std::ssize(part.requests)));
}

std::string pair_text(const MeasuredMemory& both, const RequestPair& pair) {
  if (pair.measured == snapshot::no_request)
    return fmt::format("{} of the prediction, {}, was not measured",
                       number_of(pair.predicted, both.prediction.predicted),
                       request_text(both.predicted, pair.predicted, "by"));
  std::string text = fmt::format("{}, {}, ", number_of(pair.measured, both.prediction.measured),
                                 request_text(both.measured, pair.measured, "at"));
  if (pair.predicted == snapshot::no_request) return text + "is not predicted";
  return text + "is predicted as " + request_text(both.predicted, pair.predicted, "by");
}

std::string peaks_text(std::int64_t measured, std::int64_t predicted) {
  if (measured == predicted)
    return fmt::format("peak {} measured, and predicted to the byte", format_bytes(measured));
  return fmt::format("peak {} measured, {} predicted: {} ({:+.2f} %)", format_bytes(measured),
                     format_bytes(predicted), signed_bytes(predicted - measured),
                     100 * error_of(measured, predicted));
}

std::string part_text(const MeasuredMemory& both) {
  const Prediction& prediction = both.prediction;
  const std::string requests = group_digits(std::ssize(prediction.measured.requests)) + " requests";
  if (prediction.measured_step < 0) return "the whole recording, " + requests;
  return fmt::format("step {} of {}, {}", prediction.measured_step + 1,
                     both.measured.device.steps.begins.size(), requests);
}

std::string equal_text(const Prediction& prediction) {
  return fmt::format("{} requests ({:.1f} %) in the same order; {} predicted",
                     group_digits(prediction.equal_requests), 100 * prediction.equal_share(),
                     group_digits(std::ssize(prediction.predicted.requests)));
}

std::string cause_text(const PeakDifference& difference, const Prediction& prediction) {
  const std::string bytes = signed_bytes(difference.bytes());
  switch (difference.cause) {
    case PeakCause::before_part:
      return fmt::format("what is held before the {} ({})", part_name(prediction), bytes);
    case PeakCause::other_size:
      return fmt::format("the size of {} ({}), predicted by {}", difference.measured, bytes,
                         difference.predicted);
    case PeakCause::measured_only:
      return fmt::format("{} ({}), which is not predicted", difference.measured, bytes);
    case PeakCause::predicted_only:
      return fmt::format("{} ({}), which was not measured", difference.predicted, bytes);
    case PeakCause::other_moment:
      return fmt::format("how long {} is held ({})", difference.measured, bytes);
  }
  return {};
}

void write_part(JsonWriter& json, const char* key, const SnapshotAnswer& answer,
                const snapshot::HistoryPart& part) {
  json.line(4), json.key(key);
  json.begin_object();
  json.member("snapshot", answer.snapshot.path);
  json.member("first_event", std::int64_t{part.first});
  json.member("end_event", std::int64_t{part.end});
  json.member("requests", static_cast<std::int64_t>(part.requests.size()));
  json.member("start_allocated_bytes", part.start.allocated);
  json.member("start_reserved_bytes", part.start.reserved);
  json.member("peak_allocated_bytes", part.allocated.bytes);
  json.member("peak_reserved_bytes", part.reserved.bytes);
  json.end_object();
}

void write_request(JsonWriter& json, const char* key, const SnapshotAnswer& answer,
                   RequestIndex at) {
  if (at == snapshot::no_request) return json.null_member(key);
  const snapshot::Request& request = answer.device.history.requests[at];
  json.key(key);
  json.begin_object();
  json.member("event", std::int64_t{request.begin});
  json.member("requested_bytes", request.requested_bytes);
  json.member("line", text_of(answer.sites.line(answer.sites.line_of(request))));
  json.member("module", answer.sites.module(answer.sites.module_of(request)));
  json.end_object();
}

void write_differences(JsonWriter& json, const MeasuredMemory& both) {
  json.line(4), json.key("differing");
  json.begin_array();
  for (const RequestPair& pair : both.prediction.differing) {
    json.line(6), json.begin_object();
    write_request(json, "measured", both.measured, pair.measured);
    write_request(json, "predicted", both.predicted, pair.predicted);
    json.end_object();
  }
  json.end_array();
  json.line(4), json.key("differences");
  json.begin_array();
  for (const PeakDifference& difference : both.prediction.differences) {
    json.line(6), json.begin_object();
    json.member("cause", cause_name(difference.cause));
    json.member("measured", difference.measured);
    json.member("predicted", difference.predicted);
    json.member("requests", difference.requests);
    json.member("measured_bytes", difference.measured_bytes);
    json.member("predicted_bytes", difference.predicted_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_members(JsonWriter& json, const MeasuredMemory& both) {
  const Prediction& prediction = both.prediction;
  write_part(json, "measured", both.measured, prediction.measured);
  write_part(json, "predicted", both.predicted, prediction.predicted);
  json.line(4);
  if (prediction.measured_step < 0)
    json.null_member("step");
  else
    json.member("step", prediction.measured_step + 1);
  json.member("equal_requests", prediction.equal_requests);
  json.member("equal_share", prediction.equal_share());
  write_settings(json, both);
  json.member("verdict", verdict_text(prediction));
  write_differences(json, both);
}

}  // namespace

std::string verdict_text(const Prediction& prediction) {
  const snapshot::HistoryPart& measured = prediction.measured;
  const snapshot::HistoryPart& predicted = prediction.predicted;
  const double allocated = error_of(measured.allocated.bytes, predicted.allocated.bytes);
  const double reserved = error_of(measured.reserved.bytes, predicted.reserved.bytes);
  if (!prediction.is_same_program())
    return "most requests differ: this is another program, or other sizes";
  if (std::abs(allocated) > close_allocated && !prediction.differences.empty())
    return fmt::format("the allocated peak is predicted {}; the largest part is {}",
                       error_text(allocated),
                       cause_text(prediction.differences.front(), prediction));
  if (std::abs(reserved) <= close_reserved)
    return "the prediction holds: allocated within 0.5 %, reserved within 3 %";
  const std::int64_t cached = measured.start.reserved - measured.start.allocated;
  return fmt::format(
      "the allocated peak is right, reserved memory is predicted {}; {} were reserved and not "
      "allocated when the measured {} began",
      error_text(reserved), format_bytes(cached), part_name(prediction));
}

void write_measured_memory(fmt::memory_buffer& out, const MeasuredMemory& both, int top,
                           const Layout& layout) {
  const Prediction& prediction = both.prediction;
  fmt::format_to(fmt::appender(out), "{} beside the prediction.\n\n", both.measured.snapshot.path);
  if (const TextTable table = table_of(prediction, top); !table.rows.empty()) {
    write(out, table, layout);
    out.push_back('\n');
  }
  write_line(out, "measured", part_text(both), layout);
  write_line(out, "equal", equal_text(prediction), layout);
  if (!prediction.differing.empty())
    write_line(out, "first other", pair_text(both, prediction.differing.front()), layout);
  write_line(out, "allocated",
             peaks_text(prediction.measured.allocated.bytes, prediction.predicted.allocated.bytes),
             layout);
  write_line(out, "reserved",
             peaks_text(prediction.measured.reserved.bytes, prediction.predicted.reserved.bytes),
             layout);
  write_settings(out, both, layout);
  write_line(out, "verdict", verdict_text(prediction), layout);
}

void write_measured_memory(JsonWriter& json, const MeasuredMemory& both) {
  json.key("measured_memory");
  json.begin_object();
  write_members(json, both);
  json.end_object();
}

void write_measured_memory_json(fmt::memory_buffer& out, const MeasuredMemory& both) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.measured_memory/1");
  write_members(json, both);
  json.end_document();
}

}  // namespace symprof::report
