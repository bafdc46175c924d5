// Statistics as text, JSON and CSV.
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "report/onnx/stats.h"
#include "report/write/csv_field.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "workbench/types.h"

namespace symprof::report {
namespace {

using workbench::FunctionStats;
using workbench::ModelStats;
using workbench::ModuleStats;
using workbench::NodeCounts;
using workbench::numpy_name;
using workbench::TensorStats;
using workbench::ValueStats;
using Counts = std::map<std::string, std::int64_t>;

/// A named list of counts, of one model and of the other.
struct Section {
  std::string name, title;
  Counts counts, other;
};

Counts node_counts(const ModelStats& stats) {
  return {{"main", stats.nodes.main},
          {"with_subgraphs", stats.nodes.with_subgraphs},
          {"in_functions", stats.nodes.in_functions},
          {"no_constant", stats.nodes.no_constant},
          {"inlined", stats.inlined.with_subgraphs},
          {"inlined_no_constant", stats.inlined.no_constant}};
}

Counts initializer_counts(const ModelStats& stats) {
  return {{"number", stats.initializers},
          {"elements", stats.initializer_elements},
          {"bytes", stats.initializer_bytes}};
}

Counts module_counts(const ModelStats& stats) {
  Counts counts;
  for (const ModuleStats& module : stats.modules) counts[module.path] = module.elements;
  return counts;
}

Counts function_counts(const ModelStats& stats) {
  Counts counts;
  for (const FunctionStats& one : stats.functions) counts[one.domain + "." + one.name] = one.nodes;
  return counts;
}

std::vector<Section> sections(const ModelStats& stats, const ModelStats* other) {
  struct Row {
    const char *name, *title;
    Counts (*counts)(const ModelStats&);
  };
  static constexpr Row rows[] = {
      {"nodes", "nodes", node_counts},
      {"ops", "operators, functions inlined",
       [](const ModelStats& one) { return one.ops_inlined; }},
      {"functions", "functions, nodes of each", function_counts},
      {"initializers", "initializers", initializer_counts},
      {"initializers_by_shape", "initializers by type and shape",
       [](const ModelStats& one) { return one.initializers_by_shape; }},
      {"modules", "elements of initializers by module", module_counts},
      {"results_by_type", "results by type",
       [](const ModelStats& one) { return one.results_by_type; }},
      {"node_signatures", "nodes by what they read",
       [](const ModelStats& one) { return one.node_signatures; }},
      {"patterns", "rules that symprof optimize would apply, those of com.microsoft too",
       [](const ModelStats& one) { return one.patterns; }},
  };
  std::vector<Section> found;
  for (const Row& row : rows)
    found.push_back(
        {row.name, row.title, row.counts(stats), other ? row.counts(*other) : Counts()});
  return found;
}

std::set<std::string> keys_of(const Section& section) {
  std::set<std::string> keys;
  for (const auto* counts : {&section.counts, &section.other})
    for (const auto& [key, count] : *counts) keys.insert(key);
  return keys;
}

std::int64_t count_of(const Counts& counts, const std::string& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

template <class... Arguments>
void line(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
          Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  out.push_back('\n');
}

std::string head(const ModelStats& stats, const std::string& name) {
  std::vector<std::string> opsets;
  for (const auto& [domain, version] : stats.opsets)
    opsets.push_back(fmt::format("{} {}", domain.empty() ? "opset" : domain, version));
  return fmt::format("{}: IR {}, {}; {} of initializers", name, stats.ir_version,
                     fmt::join(opsets, ", "), format_bytes(stats.initializer_bytes));
}

std::string value_line(const char* what, const ValueStats& value) {
  return fmt::format("{} {}: {}[{}]", what, value.name, numpy_name(value.type),
                     fmt::join(value.dimensions, ","));
}

/// The label of a count for readers: initializers are keyed by the number of their type,
/// "1[16x16]".
std::string label_of(const Section& section, const std::string& key) {
  if (key.empty()) return "(none)";
  if (section.name != "initializers_by_shape") return key;
  const std::size_t bracket = key.find('[');
  return fmt::format("{}{}", numpy_name(std::stoi(key.substr(0, bracket))), key.substr(bracket));
}

void write_section(fmt::memory_buffer& out, const Section& section, bool compares) {
  const auto keys = keys_of(section);
  if (keys.empty()) return;
  line(out, "\n{}", section.title);
  for (const std::string& key : keys) {
    const std::int64_t mine = count_of(section.counts, key), theirs = count_of(section.other, key);
    const std::string name = label_of(section, key);
    if (compares)
      line(out, "  {:>12}  {:>12}  {:>+12}  {}", group_digits(mine), group_digits(theirs),
           theirs - mine, name);
    else
      line(out, "  {:>12}  {}", group_digits(mine), name);
  }
}

void write_blocks(fmt::memory_buffer& out, const ModelStats& stats) {
  if (stats.blocks.empty()) return;
  line(out, "\nrepeated blocks");
  for (const ModelStats::Block& block : stats.blocks)
    line(out, "  {} times {} nodes, {} to {}: {}", block.times, block.nodes, block.first,
         block.last, block.ops);
}

void write_counts(JsonWriter& json, const Counts& counts) {
  json.begin_object();
  for (const auto& [key, count] : counts) json.member(key, count);
  json.end_object();
}

void write_node_counts(JsonWriter& json, const NodeCounts& counts) {
  json.begin_object();
  json.member("main", counts.main);
  json.member("with_subgraphs", counts.with_subgraphs);
  json.member("in_functions", counts.in_functions);
  json.member("no_constant", counts.no_constant);
  json.end_object();
}

void write_values(JsonWriter& json, const char* key, const std::vector<ValueStats>& values) {
  json.key(key);
  json.begin_array();
  for (const ValueStats& value : values) {
    json.begin_array();
    json.value(std::string_view(value.name));
    json.value(std::int64_t{value.type});
    json.begin_array();
    for (const std::string& dimension : value.dimensions) {
      const bool is_number =
          !dimension.empty() && dimension.find_first_not_of("0123456789") == dimension.npos;
      if (is_number)
        json.value(static_cast<std::int64_t>(std::stoll(dimension)));
      else
        json.value(std::string_view(dimension));
    }
    json.end_array();
    json.end_array();
  }
  json.end_array();
}

void write_functions(JsonWriter& json, const ModelStats& stats) {
  json.key("functions");
  json.begin_array();
  for (const FunctionStats& one : stats.functions) {
    json.begin_object();
    json.member("name", std::string_view(one.name));
    json.member("domain", std::string_view(one.domain));
    json.member("nodes", one.nodes);
    json.member("inputs", one.inputs);
    json.member("outputs", one.outputs);
    json.member("calls", one.calls);
    json.key("ops");
    write_counts(json, one.ops);
    json.end_object();
  }
  json.end_array();
}

void write_lists(JsonWriter& json, const ModelStats& stats) {
  json.key("modules");
  json.begin_array();
  for (const ModuleStats& module : stats.modules) {
    json.begin_object();
    json.member("path", std::string_view(module.path));
    json.member("initializers", module.initializers);
    json.member("elements", module.elements);
    json.member("bytes", module.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("blocks");
  json.begin_array();
  for (const ModelStats::Block& block : stats.blocks) {
    json.begin_object();
    json.member("times", block.times);
    json.member("nodes", block.nodes);
    json.member("first", std::string_view(block.first));
    json.member("last", std::string_view(block.last));
    json.member("ops", std::string_view(block.ops));
    json.end_object();
  }
  json.end_array();
}

std::string number_text(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "?";
}

void write_tensors(fmt::memory_buffer& out, const ModelStats& stats) {
  if (!stats.tensors || stats.tensors->empty()) return;
  line(out, "\ntensors: least, mean, greatest, deviation");
  for (const TensorStats& one : *stats.tensors)
    line(out, "  {:>12}  {:>12}  {:>12}  {:>12}  {}{}: {}[{}]{}", number_text(one.least),
         number_text(one.mean), number_text(one.greatest), number_text(one.deviation),
         one.function.empty() ? "" : one.function + "/", one.name, numpy_name(one.type),
         fmt::join(one.sizes, ","),
         one.nans.value_or(0) > 0 ? fmt::format(", {} NaN", *one.nans) : "");
}

void write_tensor(JsonWriter& json, const TensorStats& one) {
  json.line(2);
  json.begin_object();
  json.member("name", std::string_view(one.name));
  json.member("function", std::string_view(one.function));
  json.member("type", one.type);
  json.list("shape", one.sizes);
  json.member("elements", one.elements);
  json.member("bytes", one.bytes);
  json.member("least", one.least);
  json.member("greatest", one.greatest);
  json.member("mean", one.mean);
  json.member("deviation", one.deviation);
  json.member("nan", one.nans);
  json.key("above");
  json.begin_array();
  for (const auto& [bound, count] : one.above) {
    json.begin_array();
    json.value(bound);
    json.value(count);
    json.end_array();
  }
  json.end_array();
  json.list("deciles", one.deciles);
  json.end_object();
}

void write_one(JsonWriter& json, const ModelStats& stats, const std::string& name) {
  json.begin_object();
  json.member("model", std::string_view(name));
  json.member("ir_version", stats.ir_version);
  json.key("opset");
  write_counts(json, stats.opsets);
  json.key("nodes");
  write_node_counts(json, stats.nodes);
  json.key("nodes_inlined");
  write_node_counts(json, stats.inlined);
  json.key("ops");
  write_counts(json, stats.ops);
  json.key("ops_inlined");
  write_counts(json, stats.ops_inlined);
  write_functions(json, stats);
  write_values(json, "inputs", stats.inputs);
  write_values(json, "outputs", stats.outputs);
  json.key("initializers");
  json.begin_object();
  json.member("number", stats.initializers);
  json.member("elements", stats.initializer_elements);
  json.member("bytes", stats.initializer_bytes);
  json.key("by_type");
  write_counts(json, stats.initializers_by_type);
  json.key("by_shape");
  write_counts(json, stats.initializers_by_shape);
  json.end_object();
  json.key("results_by_type");
  write_counts(json, stats.results_by_type);
  json.key("node_signatures");
  write_counts(json, stats.node_signatures);
  json.key("patterns");
  write_counts(json, stats.patterns);
  write_lists(json, stats);
  if (stats.tensors) {
    json.key("tensors");
    json.begin_array();
    for (const TensorStats& one : *stats.tensors) write_tensor(json, one);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

void write_stats(fmt::memory_buffer& out, const ModelStats& stats, const std::string& name,
                 const ModelStats* other, const std::string& other_name) {
  line(out, "{}", head(stats, name));
  if (other) line(out, "{}", head(*other, other_name));
  if (!other) {
    for (const ValueStats& value : stats.inputs) line(out, "{}", value_line("input", value));
    for (const ValueStats& value : stats.outputs) line(out, "{}", value_line("output", value));
  }
  for (const Section& section : sections(stats, other))
    write_section(out, section, other != nullptr);
  write_blocks(out, other ? *other : stats);
  if (!other) write_tensors(out, stats);
}

void write_stats_json(fmt::memory_buffer& out, const ModelStats& stats, const std::string& name,
                      const ModelStats* other, const std::string& other_name) {
  JsonWriter json(out);
  if (other) json.begin_array();
  write_one(json, stats, name);
  if (other) write_one(json, *other, other_name);
  if (other) json.end_array();
  out.push_back('\n');
}

void write_stats_csv(fmt::memory_buffer& out, const ModelStats& stats, const ModelStats* other) {
  line(out, "section,name,count{}", other ? ",other" : "");
  for (const Section& section : sections(stats, other))
    for (const std::string& key : keys_of(section))
      line(out, "{},{},{}{}", section.name, csv_field(key), count_of(section.counts, key),
           other ? fmt::format(",{}", count_of(section.other, key)) : "");
}

}  // namespace symprof::report
