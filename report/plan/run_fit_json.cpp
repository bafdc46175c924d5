#include <fmt/format.h>

#include <iterator>

#include "report/plan/device_json.h"
#include "report/plan/run_fit.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using profile::RunRow;

void write_run_figures(JsonWriter& json, const RunFit& run) {
  json.member("fits", run.fits());
  json.member("margin_bytes", run.margin_bytes());
  json.member("peak_allocated_bytes", run.wanted.rows[run.peak_pass()].peak_allocated_bytes);
  json.member("peak_reserved_bytes", run.peak_reserved_bytes());
  json.member("peak_pass", static_cast<std::int64_t>(run.peak_pass()));
  json.member("available_bytes", run.budget.available_bytes());
  json.member("set_aside_bytes", run.set_aside_bytes);
  json.member("incomplete_calls", run.incomplete_calls);
  json.member("alloc_retries", run.there.rows.back().alloc_retries);
  json.member("device_frees", run.there.rows.back().device_frees);
  json.line(2);
  json.key("refused");
  if (!run.there.refused) return json.null();
  json.begin_object();
  json.member("pass", static_cast<std::int64_t>(run.there.refused->row));
  json.member("bytes", run.there.refused->bytes);
  json.member("allocated_bytes", run.there.refused->allocated_bytes);
  json.member("reserved_bytes", run.there.refused->reserved_bytes);
  json.end_object();
}

void write_tokens(JsonWriter& json, const RunFit& run) {
  const TokenCounts tokens = run.tokens();
  json.member("shapes", static_cast<std::int64_t>(run.shapes));
  json.member("tokens", tokens.given);
  json.member("padded_tokens", tokens.padded);
}

void write_answers(JsonWriter& json, const RunFit& run, const RunQuestion& question) {
  json.key("largest");
  if (run.largest) {
    json.begin_object();
    json.member("of", question.rule.limit == plan::BatchLimit::tokens ? "tokens" : "samples");
    json.member("size", run.largest->fits);
    json.member("refused_size", run.largest->refused);
    json.member("peak_reserved_bytes", run.largest_reserved_bytes);
    json.member("trials", run.largest->trials);
    json.end_object();
  } else {
    json.null();
  }
  json.line(2);
  json.key("shuffles");
  if (!run.shuffles) return json.null();
  json.begin_object();
  json.member("epochs", run.shuffles->epochs);
  json.list("refused_seeds", run.shuffles->refused);
  json.end_object();
}

void write_run_time(JsonWriter& json, const RunFit& run) {
  json.key("time");
  if (!run.time) return json.null();
  json.begin_object();
  json.member("us", run.time->us);
  json.member("low_us", run.time->low_us);
  json.member("high_us", run.time->high_us);
  json.member("unknown_calls", run.time->unknown_calls);
  json.end_object();
}

void write_tried_confs(JsonWriter& json, const RunFit& run) {
  json.key("tried");
  json.begin_array();
  for (const TriedAllocator& tried : run.tried) {
    json.line(4);
    json.begin_object();
    json.member("alloc_conf", tried.conf);
    json.member("peak_reserved_bytes", tried.reserved_bytes);
    json.member("fits", tried.fits);
    json.member("alloc_retries", tried.alloc_retries);
    json.end_object();
  }
  json.end_array();
}

void write_pass(JsonWriter& json, const RunFit& run, std::size_t pass) {
  const RunRow& row = run.there.rows[pass];
  const RunPass& at = run.passes[pass];
  json.line(4);
  json.begin_object();
  json.member("kind", at.batch ? "batch" : "eval");
  json.member("update", at.update);
  if (at.batch) {
    json.member("samples", run.batches[*at.batch].samples);
    json.member("length", run.batches[*at.batch].length);
    json.member("tokens", run.batches[*at.batch].tokens);
  }
  json.member("allocated_bytes", row.allocated_bytes);
  json.member("reserved_bytes", row.reserved_bytes);
  json.member("peak_allocated_bytes", row.peak_allocated_bytes);
  json.member("peak_reserved_bytes", row.peak_reserved_bytes);
  json.member("inactive_split_bytes", row.inactive_split_bytes);
  json.member("segments", row.segments);
  json.member("alloc_retries", row.alloc_retries);
  json.end_object();
}

}  // namespace

void write_run_fit_json(fmt::memory_buffer& out, const RunFit& run, const RunQuestion& question,
                        SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.fit_run/1");
  json.line(2);
  json.member("model", run.model);
  json.line(2);
  write_settings(json, run.settings);
  json.line(2);
  write_device(json, run.device, run.budget);
  json.line(2);
  write_run_figures(json, run);
  json.line(2);
  write_tokens(json, run);
  json.line(2);
  write_answers(json, run, question);
  json.line(2);
  write_run_time(json, run);
  json.line(2);
  write_tried_confs(json, run);
  json.line(2);
  json.key("passes");
  json.begin_array();
  for (std::size_t i = 0; i < run.there.rows.size(); ++i) write_pass(json, run, i);
  json.closing_line(2);
  json.end_array();
  json.end_document();
}

void write_run_fit_csv(fmt::memory_buffer& out, const RunFit& run) {
  const auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "pass,kind,update,samples,length,allocated_bytes,reserved_bytes,"
                 "peak_allocated_bytes,peak_reserved_bytes,inactive_split_bytes,segments,"
                 "alloc_retries\r\n");
  for (std::size_t i = 0; i < run.there.rows.size(); ++i) {
    const RunRow& row = run.there.rows[i];
    const RunPass& at = run.passes[i];
    const std::string shape = at.batch ? fmt::format("{},{}", run.batches[*at.batch].samples,
                                                     run.batches[*at.batch].length)
                                       : ",";
    fmt::format_to(to, "{},{},{},{},{},{},{},{},{},{},{}\r\n", i, at.batch ? "batch" : "eval",
                   at.update, shape, row.allocated_bytes, row.reserved_bytes,
                   row.peak_allocated_bytes, row.peak_reserved_bytes, row.inactive_split_bytes,
                   row.segments, row.alloc_retries);
  }
}

}  // namespace symprof::report
