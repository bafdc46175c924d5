// Runs ONNX's backend tests (a file that write_cases.py writes) on CPU values and on fake tensors.
//
//     symprof_onnx_backend CASES [--exceptions FILE] [--only TEXT] [--markdown]
//
// FILE lists the cases that are known not to pass, one name a line. The status is 1 when another
// case fails, or when one of those passes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "run_case.h"

namespace {

using namespace symprof::testing;

struct Options {
  std::string cases, exceptions, only;
  bool markdown = false;
};

struct Tally {
  int cases = 0, values = 0, fake_same = 0, fake_with_values = 0, data = 0;

  void add(const CaseResult& result) {
    ++cases;
    values += result.values_pass;
    fake_same += result.fake == FakeResult::same;
    fake_with_values += result.fake == FakeResult::with_values;
    data += result.fake == FakeResult::data;
  }
  int passing() const { return fake_same + fake_with_values + data; }
};

struct Failure {
  std::string name, op, reason;
};

struct Report {
  std::map<std::string, Tally> operators;
  Tally nodes, models, all;  ///< Cases of single nodes, and of the models in onnx's package.
  std::vector<Failure> failures;
  std::vector<std::string> passing;
};

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--markdown")
      options.markdown = true;
    else if (argument == "--exceptions" && i + 1 < count)
      options.exceptions = arguments[++i];
    else if (argument == "--only" && i + 1 < count)
      options.only = arguments[++i];
    else
      options.cases = argument;
  }
  if (options.cases.empty())
    throw symprof::Error(
        "symprof_onnx_backend", "no file of cases",
        "symprof_onnx_backend CASES [--exceptions FILE] [--only TEXT] [--markdown]");
  return options;
}

std::set<std::string> read_names(const std::string& path) {
  std::set<std::string> names;
  if (path.empty()) return names;
  std::ifstream file(path);
  if (!file) throw symprof::Error(path, "cannot be read");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') names.insert(line.substr(0, line.find(' ')));
  return names;
}

Report run_all(const Options& options) {
  Report report;
  for (const BackendCase& test : read_cases(options.cases)) {
    if (test.name.find(options.only) == std::string::npos) continue;
    const CaseResult result = run_case(test);
    report.all.add(result);
    (test.name.find('/') == std::string::npos ? report.nodes : report.models).add(result);
    report.operators[test.op].add(result);
    if (result.passes())
      report.passing.push_back(test.name);
    else
      report.failures.push_back({test.name, test.op, result.reason});
  }
  return report;
}

void print_text(const Report& report) {
  fmt::print("{:<36}{:>7}{:>8}{:>6}{:>13}{:>16}\n", "operator", "cases", "values", "fake",
             "with values", "data-dependent");
  const auto row = [](const std::string& name, const Tally& tally) {
    fmt::print("{:<36}{:>7}{:>8}{:>6}{:>13}{:>16}\n", name, tally.cases, tally.values,
               tally.fake_same, tally.fake_with_values, tally.data);
  };
  for (const auto& [name, tally] : report.operators) row(name, tally);
  row("all", report.all);
  for (const Failure& failure : report.failures)
    fmt::print("FAIL {} ({}): {}\n", failure.name, failure.op, failure.reason);
}

/// Counts, and failures by reason, for docs/evaluation/onnx_backend.md.
void print_markdown(const Report& report) {
  fmt::print(
      "| cases | number | values agree | and fake shapes agree | data-dependent, refused | pass |\n"
      "| --- | --- | --- | --- | --- | --- |\n");
  const auto row = [](const char* name, const Tally& tally) {
    fmt::print("| {} | {} | {} | {} | {} | {:.1f} % |\n", name, tally.cases, tally.values,
               tally.fake_same + tally.fake_with_values, tally.data,
               100.0 * tally.passing() / std::max(tally.cases, 1));
  };
  row("single nodes", report.nodes), row("models", report.models), row("all", report.all);
  fmt::print("\n");
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const Failure& failure : report.failures)
    by_reason[failure.op + ": " + failure.reason].push_back(failure.name);
  fmt::print("| operator: reason | cases |\n| --- | --- |\n");
  for (const auto& [reason, names] : by_reason) {
    std::string escaped;
    for (const char c : reason) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
    fmt::print("| {} | {}{} |\n", escaped, names.front(),
               names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
  }
}

int judge(const Report& report, const Options& options) {
  const std::set<std::string> known = read_names(options.exceptions);
  int surprises = 0;
  for (const Failure& failure : report.failures)
    if (!known.contains(failure.name)) {
      ++surprises;
      fmt::print(stderr, "fails: {}: {}\n", failure.name, failure.reason);
    }
  for (const std::string& name : report.passing)
    if (known.contains(name)) {
      ++surprises;
      fmt::print(stderr, "passes now: {}; take it out of {}\n", name, options.exceptions);
    }
  return surprises == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = read_options(count, arguments);
    const Report report = run_all(options);
    options.markdown ? print_markdown(report) : print_text(report);
    return judge(report, options);
  } catch (const symprof::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
