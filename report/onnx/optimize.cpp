#include "report/onnx/optimize.h"

#include <algorithm>
#include <iterator>

#include "report/write/format_number.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

template <class... Arguments>
void add_line(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
              Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  out.push_back('\n');
}

std::string bytes_text(std::int64_t bytes) {
  return bytes < 0 ? "-" + format_bytes(-bytes) : format_bytes(bytes);
}

std::string count_text(std::int64_t count) {
  const Quantity text = scale_count(count < 0 ? -count : count, Precision::decimals);
  return (count < 0 ? "-" : "") + text.number + (text.unit.empty() ? "" : " " + text.unit);
}

std::string saved_text(const std::optional<RuleCosts>& saved) {
  if (!saved) return fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", "?", "?", "?", "?");
  return fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", count_text(saved->fwd_flops),
                     count_text(saved->bwd_flops), bytes_text(saved->moved_bytes),
                     bytes_text(saved->saved_bytes));
}

void write_rules(fmt::memory_buffer& out, const OptimizeAnswer& answer) {
  add_line(out, "{:<20}  {:>6}  {:>8}  {:>6}  {:>9}  {}", "rule", "times", "removed", "added", "ms",
           answer.savings ? fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", "fwd FLOPs", "bwd FLOPs",
                                        "moved", "saved")
                          : "results not made any more");
  for (const workbench::RuleReport& rule : answer.report.rules)
    if (rule.times > 0)
      add_line(
          out, "{:<20}  {:>6}  {:>8}  {:>6}  {:>9.3f}  {}", rule.name, rule.times, rule.removed,
          rule.added, rule.milliseconds,
          answer.savings ? saved_text(answer.savings->of(rule.name)) : format_bytes(rule.bytes));
  if (!answer.savings) return;
  add_line(out, "\n{:<57}  {}", "the step before", saved_text(answer.savings->before()));
  add_line(out, "{:<57}  {}", "the step after", saved_text(answer.savings->after()));
  if (!answer.savings->problem().empty())
    add_line(out, "? where the model could not be counted: {}", answer.savings->problem());
}

void write_values(fmt::memory_buffer& out, const OptimizeAnswer& answer) {
  add_line(out, "\nvalues on {} (within {:g})", answer.values->inputs, answer.values->tolerance);
  add_line(out, "{:<40}  {:>10}  {:>10}", "output", "absolute", "relative");
  for (const workbench::OutputDifference& one : answer.values->differences)
    add_line(out, "{:<40}  {:>10.2g}  {:>10.2g}{}", one.name, one.absolute, one.relative,
             one.is_within       ? ""
             : one.other.empty() ? "  differs"
                                 : "  differs: " + one.other);
}

void write_costs(JsonWriter& json, std::string_view name, const std::optional<RuleCosts>& costs) {
  json.key(name);
  if (!costs) return json.null();
  json.begin_object();
  json.member("fwd_flops_all", costs->fwd_flops);
  json.member("bwd_flops_all", costs->bwd_flops);
  json.member("moved_bytes", costs->moved_bytes);
  json.member("saved_bytes", costs->saved_bytes);
  json.end_object();
}

void write_rule(JsonWriter& json, const OptimizeAnswer& answer, const workbench::RuleReport& rule) {
  json.line(4);
  json.begin_object();
  json.member("name", std::string_view(rule.name));
  json.member("times", rule.times);
  json.member("removed", rule.removed);
  json.member("added", rule.added);
  json.member("looks", rule.sweeps);
  json.member("most_times", rule.most);
  json.member("time_us", rule.milliseconds * 1000);
  json.member("result_bytes", rule.bytes);
  if (answer.savings) write_costs(json, "saved", answer.savings->of(rule.name));
  json.end_object();
}

void write_values_json(JsonWriter& json, const OptimizeAnswer& answer) {
  json.key("values");
  json.begin_object();
  json.member("inputs", std::string_view(answer.values->inputs));
  json.member("tolerance", answer.values->tolerance);
  json.key("outputs");
  json.begin_array();
  for (const workbench::OutputDifference& one : answer.values->differences) {
    json.line(4);
    json.begin_object();
    json.member("name", std::string_view(one.name));
    json.member("absolute", one.absolute);
    json.member("relative", one.relative);
    json.member("is_within", one.is_within);
    json.member("other", std::string_view(one.other));
    json.end_object();
  }
  json.end_array();
  if (answer.values->broken_by.empty())
    json.null_member("broken_by");
  else
    json.member("broken_by", std::string_view(answer.values->broken_by));
  json.end_object();
}

}  // namespace

void write_optimize_table(fmt::memory_buffer& out, const OptimizeAnswer& answer,
                          const std::string& file) {
  add_line(out, "{}: {} nodes, before {}; {} passes\n", file, answer.report.nodes_after,
           answer.report.nodes_before, answer.report.passes);
  write_rules(out, answer);
  if (answer.values) write_values(out, answer);
  if (!answer.is_good())
    add_line(out, "\nnot written: values differ after rule {}", answer.values->broken_by);
}

void write_optimize_stat(fmt::memory_buffer& out, const OptimizeAnswer& answer) {
  std::vector<const workbench::RuleReport*> rules;
  rules.reserve(answer.report.rules.size());
  for (const workbench::RuleReport& rule : answer.report.rules)
    if (rule.times > 0) rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const workbench::RuleReport* rule : rules)
    add_line(out, "    STAT apply_{} +{} -{} #it={} maxmatch={} i={} - time={}", rule->name,
             rule->added, rule->removed, rule->sweeps, rule->most, rule->times,
             rule->milliseconds / 1000);
}

void write_optimize_json(fmt::memory_buffer& out, const OptimizeAnswer& answer,
                         const std::string& file) {
  JsonWriter json(out);
  json.begin_object();
  json.member("schema", std::string_view("symprof.optimize/1"));
  json.member("model", std::string_view(answer.model));
  json.member("file", std::string_view(file));
  json.member("nodes_before", answer.report.nodes_before);
  json.member("nodes_after", answer.report.nodes_after);
  json.member("passes", answer.report.passes);
  json.key("rules");
  json.begin_array();
  for (const workbench::RuleReport& rule : answer.report.rules) write_rule(json, answer, rule);
  json.end_array();
  if (answer.savings) {
    write_costs(json, "before", answer.savings->before());
    write_costs(json, "after", answer.savings->after());
  }
  if (answer.values) write_values_json(json, answer);
  json.list("warnings", answer.report.warnings);
  json.end_document();
}

}  // namespace symprof::report
