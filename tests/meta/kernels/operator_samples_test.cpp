// Calls of PyTorch's operator database on fake tensors: dtype, sizes, strides and aliasing of every
// output must match PyTorch (truth/operator_samples/README.md).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/torch_version.h"
#include "meta/fake/fake_mode.h"
#include "tests/support/source_folder.h"
#include "tests/support/torch/recorded_call.h"

namespace symprof::test {
namespace {

const std::filesystem::path samples_dir =
    std::filesystem::path(test::source_folder()) / "truth/operator_samples";

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  return lines;
}

// The first word of each line; a reason follows. Another release of PyTorch has more of them.
std::set<std::string> exceptions() {
  std::vector<std::string> lines = lines_of(samples_dir / "exceptions.txt");
  const auto of_release = samples_dir / fmt::format("exceptions_2.{}.txt", torch_minor());
  if (std::filesystem::exists(of_release))
    std::ranges::copy(lines_of(of_release), std::back_inserter(lines));
  std::set<std::string> names;
  for (const std::string& line : lines) names.insert(line.substr(0, line.find(' ')));
  return names;
}

struct Outcome {
  int calls = 0, agreeing = 0;
  std::string first_complaint;
};

std::map<std::string, Outcome> replay_all() {
  const meta::FakeMode mode({}, nullptr);
  std::map<std::string, Outcome> outcomes;
  for (const std::string& line : lines_of(samples_dir / "calls.jsonl")) {
    const RecordedCall call = parse_call(line);
    Outcome& outcome = outcomes[call.op];
    const auto problem = complaint(call);
    ++outcome.calls;
    if (!problem) {
      ++outcome.agreeing;
    } else if (outcome.first_complaint.empty()) {
      outcome.first_complaint = line + "\n    " + *problem;
    }
  }
  return outcomes;
}

}  // namespace
}  // namespace symprof::test

TEST_SUITE("operator_samples") {
  TEST_CASE("fake tensors match PyTorch's outputs") {
    using namespace symprof::test;
    const auto outcomes = replay_all();
    const std::set<std::string> listed = exceptions();
    int calls = 0, agreeing_calls = 0, agreeing = 0;
    for (const auto& [op, outcome] : outcomes) {
      calls += outcome.calls;
      agreeing_calls += outcome.agreeing;
      const bool agrees = outcome.agreeing == outcome.calls;
      agreeing += agrees ? 1 : 0;
      if (!agrees && !listed.contains(op))
        FAIL_CHECK(op << ": " << outcome.calls - outcome.agreeing << " of " << outcome.calls
                      << " calls differ\n    " << outcome.first_complaint);
      if (agrees && listed.contains(op))
        FAIL_CHECK(op << " agrees with PyTorch: take it off exceptions.txt");
    }
    for (const std::string& op : listed)
      CHECK_MESSAGE(outcomes.contains(op), op << " in exceptions.txt has no sample");
    const auto operators = static_cast<int>(outcomes.size());
    MESSAGE(fmt::format("{} of {} operators agree ({:.1f} %), {} of {} calls", agreeing, operators,
                        100.0 * agreeing / operators, agreeing_calls, calls));
    CHECK(agreeing >= 0.97 * operators);
  }
}
