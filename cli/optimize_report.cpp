#include "cli/optimize_report.h"

#include <algorithm>
#include <iterator>

#include "report/format_number.h"
#include "report/json_writer.h"

namespace symprof::cli {
namespace {

template <class... Arguments>
void add_line(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
              Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
  out.push_back('\n');
}

std::string bytes_text(std::int64_t bytes) {
  return bytes < 0 ? "-" + report::format_bytes(-bytes) : report::format_bytes(bytes);
}

std::string count_text(std::int64_t count) {
  const report::Quantity text =
      report::scale_count(count < 0 ? -count : count, report::Precision::decimals);
  return (count < 0 ? "-" : "") + text.number + (text.unit.empty() ? "" : " " + text.unit);
}

std::string saved_text(const std::optional<StepCosts>& saved) {
  if (!saved) return fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", "?", "?", "?", "?");
  return fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", count_text(saved->fwd_flops),
                     count_text(saved->bwd_flops), bytes_text(saved->moved_bytes),
                     bytes_text(saved->saved_bytes));
}

void write_rules(fmt::memory_buffer& out, const OptimizeResult& result) {
  add_line(out, "{:<20}  {:>6}  {:>8}  {:>6}  {:>9}  {}", "rule", "times", "removed", "added", "ms",
           result.savings ? fmt::format("{:>11}  {:>11}  {:>11}  {:>11}", "fwd FLOPs", "bwd FLOPs",
                                        "moved", "saved")
                          : "results not made any more");
  for (const workbench::RuleReport& rule : result.report.rules)
    if (rule.times > 0)
      add_line(out, "{:<20}  {:>6}  {:>8}  {:>6}  {:>9.3f}  {}", rule.name, rule.times,
               rule.removed, rule.added, rule.milliseconds,
               result.savings ? saved_text(result.savings->of(rule.name))
                              : report::format_bytes(rule.bytes));
  if (!result.savings) return;
  add_line(out, "\n{:<57}  {}", "the step before", saved_text(result.savings->before()));
  add_line(out, "{:<57}  {}", "the step after", saved_text(result.savings->after()));
  if (!result.savings->problem().empty())
    add_line(out, "? where the model could not be counted: {}", result.savings->problem());
}

void write_values(fmt::memory_buffer& out, const OptimizeResult& result) {
  add_line(out, "\nvalues on {} (within {:g})", result.verifier->inputs_text(),
           result.verifier->tolerance());
  add_line(out, "{:<40}  {:>10}  {:>10}", "output", "absolute", "relative");
  for (const workbench::OutputDifference& one : result.differences)
    add_line(out, "{:<40}  {:>10.2g}  {:>10.2g}{}", one.name, one.absolute, one.relative,
             one.is_within       ? ""
             : one.other.empty() ? "  differs"
                                 : "  differs: " + one.other);
}

void write_costs(report::JsonWriter& json, std::string_view name,
                 const std::optional<StepCosts>& costs) {
  json.key(name);
  if (!costs) return json.null();
  json.begin_object();
  json.member("fwd_flops_all", costs->fwd_flops);
  json.member("bwd_flops_all", costs->bwd_flops);
  json.member("moved_bytes", costs->moved_bytes);
  json.member("saved_bytes", costs->saved_bytes);
  json.end_object();
}

void write_rule(report::JsonWriter& json, const OptimizeResult& result,
                const workbench::RuleReport& rule) {
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
  if (result.savings) write_costs(json, "saved", result.savings->of(rule.name));
  json.end_object();
}

void write_values_json(report::JsonWriter& json, const OptimizeResult& result) {
  json.key("values");
  json.begin_object();
  json.member("inputs", std::string_view(result.verifier->inputs_text()));
  json.member("tolerance", result.verifier->tolerance());
  json.key("outputs");
  json.begin_array();
  for (const workbench::OutputDifference& one : result.differences) {
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
  if (result.broken_by.empty())
    json.null_member("broken_by");
  else
    json.member("broken_by", std::string_view(result.broken_by));
  json.end_object();
}

}  // namespace

void write_optimize_table(fmt::memory_buffer& out, const OptimizeResult& result) {
  add_line(out, "{}: {} nodes, before {}; {} passes\n", result.file, result.report.nodes_after,
           result.report.nodes_before, result.report.passes);
  write_rules(out, result);
  if (result.verifier) write_values(out, result);
  if (!result.broken_by.empty())
    add_line(out, "\nnot written: values differ after rule {}", result.broken_by);
}

void write_optimize_stat(fmt::memory_buffer& out, const OptimizeResult& result) {
  std::vector<const workbench::RuleReport*> rules;
  rules.reserve(result.report.rules.size());
  for (const workbench::RuleReport& rule : result.report.rules)
    if (rule.times > 0) rules.push_back(&rule);
  std::sort(rules.begin(), rules.end(),
            [](const auto* a, const auto* b) { return a->name < b->name; });
  for (const workbench::RuleReport* rule : rules)
    add_line(out, "    STAT apply_{} +{} -{} #it={} maxmatch={} i={} - time={}", rule->name,
             rule->added, rule->removed, rule->sweeps, rule->most, rule->times,
             rule->milliseconds / 1000);
}

void write_optimize_json(fmt::memory_buffer& out, const OptimizeResult& result) {
  report::JsonWriter json(out);
  json.begin_object();
  json.member("schema", std::string_view("symprof.optimize/1"));
  json.member("model", std::string_view(result.model));
  json.member("file", std::string_view(result.file));
  json.member("nodes_before", result.report.nodes_before);
  json.member("nodes_after", result.report.nodes_after);
  json.member("passes", result.report.passes);
  json.key("rules");
  json.begin_array();
  for (const workbench::RuleReport& rule : result.report.rules) write_rule(json, result, rule);
  json.end_array();
  if (result.savings) {
    write_costs(json, "before", result.savings->before());
    write_costs(json, "after", result.savings->after());
  }
  if (result.verifier) write_values_json(json, result);
  json.list("warnings", result.report.warnings);
  json.end_document();
}

}  // namespace symprof::cli
