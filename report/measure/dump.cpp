#include "report/measure/dump.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using workbench::OutputDifference;
using workbench::ReplayedCall;

namespace dump = trace::dump;

std::string_view kind_name(const dump::Value& value) {
  switch (value.kind) {
    case dump::Kind::integer:
      return "int";
    case dump::Kind::real:
      return "float";
    case dump::Kind::boolean:
      return "bool";
    case dump::Kind::tensor:
      return "tensor";
    default:
      return value.is_text() ? "text" : "array";
  }
}

std::string key_text(const dump::LeftOut& left) {
  return dump::key_text({left.name, left.iteration, left.side, {}});
}

void write_leaf(JsonWriter& json, const NamedLeaf& leaf) {
  const dump::Value& value = *leaf.value;
  json.line(8);
  json.begin_object();
  json.member("name", leaf.name);
  json.member("path", leaf.path);
  json.member("kind", kind_name(value));
  json.member("label", value.label);
  json.member("dtype", value.tensor ? name(value.tensor->spec.dtype) : std::string_view("text"));
  json.list("shape", value.tensor ? value.tensor->spec.sizes : value.string_sizes);
  json.member("bytes", dump::bytes_of(value));
  json.end_object();
}

void write_entry(JsonWriter& json, const dump::Entry& entry, std::span<const NamedLeaf> leaves) {
  json.line(4);
  json.begin_object();
  json.member("key", dump::key_text(entry));
  json.member("name", entry.name);
  json.member("iteration", entry.iteration);
  json.member("side", dump::letter_of(entry.side));
  json.member("value", dump::text_of(entry.value));
  json.key("tensors");
  json.begin_array();
  dump::for_each_leaf(entry.value, [&](const std::string&, const dump::Value& leaf) {
    const auto found = std::find_if(leaves.begin(), leaves.end(),
                                    [&](const NamedLeaf& one) { return one.value == &leaf; });
    if (found != leaves.end()) write_leaf(json, *found);
  });
  json.end_array();
  json.end_object();
}

std::string number_text(double number) { return fmt::format("{:.3g}", number); }

/// The difference beyond the tolerance; empty if equal.
std::string verdict(const OutputDifference& output) {
  if (!output.other.empty()) return output.other;
  return output.is_within ? "" : "beyond";
}

TextRow row_of(const ReplayedCall& call, const OutputDifference* output) {
  TextRow row;
  const auto emphasis = output && output->is_within ? Emphasis::normal : Emphasis::alert;
  const std::string what = output ? verdict(*output) : call.not_run;
  for (const std::string& text :
       {call.name.empty() ? std::string("(model)") : call.name, fmt::format("{}", call.iteration),
        output ? output->name : std::string(), output ? number_text(output->absolute) : "",
        output ? number_text(output->relative) : "", what})
    row.cells.push_back({.text = text, .emphasis = emphasis});
  return row;
}

struct Verdicts {
  std::int64_t within = 0, beyond = 0, not_run = 0;
};

Verdicts count(const std::vector<ReplayedCall>& calls) {
  Verdicts verdicts;
  for (const ReplayedCall& call : calls)
    ++(!call.not_run.empty() ? verdicts.not_run
       : call.is_within()    ? verdicts.within
                             : verdicts.beyond);
  return verdicts;
}

}  // namespace

void write_dump(fmt::memory_buffer& out, const dump::Dump& dump, const std::string& path) {
  std::int64_t bytes = 0;
  for (const dump::Entry& entry : dump.entries)
    if (__builtin_add_overflow(bytes, dump::bytes_of(entry.value), &bytes))
      bytes = std::numeric_limits<std::int64_t>::max();
  fmt::format_to(std::back_inserter(out), "{}: {} entries, {}\n\n", path, dump.entries.size(),
                 format_bytes(bytes));
  for (const dump::Entry& entry : dump.entries) {
    const std::string key = dump::key_text(entry);
    fmt::format_to(std::back_inserter(out), "{}{}{}\n", key, key.empty() ? "" : " -- ",
                   dump::text_of(entry.value));
  }
  for (const dump::LeftOut& left : dump.left_out)
    fmt::format_to(std::back_inserter(out), "{} -- left out: {}\n", key_text(left),
                   format_bytes(left.bytes));
}

void write_dump_json(fmt::memory_buffer& out, const dump::Dump& dump, const std::string& path,
                     std::span<const NamedLeaf> leaves) {
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", "symprof.dump/1");
  json.member("file", path);
  json.key("entries");
  json.begin_array();
  for (const dump::Entry& entry : dump.entries) write_entry(json, entry, leaves);
  json.end_array();
  json.key("left_out");
  json.begin_array();
  for (const dump::LeftOut& left : dump.left_out) {
    json.line(4);
    json.begin_object();
    json.member("key", key_text(left));
    json.member("bytes", left.bytes);
    json.end_object();
  }
  json.end_array();
  json.end_document();
}

void write_replay(fmt::memory_buffer& out, const std::vector<ReplayedCall>& calls,
                  const std::string& dump, const std::string& model) {
  TextTable table;
  table.columns = {{"Name"},
                   {"Iteration", Align::number},
                   {"Output"},
                   {"Absolute", Align::number},
                   {"Relative", Align::number},
                   {""}};
  for (const ReplayedCall& call : calls) {
    if (!call.not_run.empty()) table.rows.push_back(row_of(call, nullptr));
    for (const OutputDifference& output : call.outputs) table.rows.push_back(row_of(call, &output));
  }
  const Verdicts verdicts = count(calls);
  fmt::format_to(std::back_inserter(out),
                 "{} by {}: {} of {} calls within the tolerance, {} beyond, {} not compared\n\n",
                 dump, model, verdicts.within, calls.size(), verdicts.beyond, verdicts.not_run);
  write(out, table, {});
}

void write_replay_json(fmt::memory_buffer& out, const std::vector<ReplayedCall>& calls,
                       const std::string& dump, const std::string& model) {
  JsonWriter json(out);
  const Verdicts verdicts = count(calls);
  json.begin_object();
  json.member("schema", "symprof.replay/1");
  json.member("file", dump);
  json.member("model", model);
  json.member("within", verdicts.within);
  json.member("beyond", verdicts.beyond);
  json.member("not_compared", verdicts.not_run);
  json.key("calls");
  json.begin_array();
  for (const ReplayedCall& call : calls) {
    json.line(4);
    json.begin_object();
    json.member("name", call.name);
    json.member("iteration", call.iteration);
    json.member("part", call.part);
    json.member("tolerance", call.tolerance);
    json.member("not_run", call.not_run);
    json.key("outputs");
    json.begin_array();
    for (const OutputDifference& output : call.outputs) {
      json.line(8);
      json.begin_object();
      json.member("name", output.name);
      json.member("absolute", output.absolute);
      json.member("relative", output.relative);
      json.member("is_within", output.is_within);
      json.member("other", output.other);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
