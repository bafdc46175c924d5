// Public traces of NVIDIA GPUs, recorded with PyTorch 1.9 to 2.11, against sums by an independent
// script (truth/kineto/README.md).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "measure/kineto/kineto.h"
#include "tests/support/source_folder.h"

namespace symprof::measure::test {
namespace {

const std::string folder = symprof::test::source_folder() + "/truth/kineto/";

struct Sum {
  std::int64_t count = 0, ns = 0;
};

struct Sums {
  std::map<std::string, Sum> by_operator, by_phase;
  std::int64_t kernels = 0, copies = 0, without_operator = 0, from_graph = 0;
};

const char* word(Phase phase) {
  return phase == Phase::optimizer  ? "optimizer"
         : phase == Phase::backward ? "backward"
                                    : "forward";
}

Sums sums_of(const Trace& trace) {
  Sums sums;
  for (const Activity& activity : trace.activities) {
    if (activity.kind != Activity::Kind::kernel) {
      ++sums.copies;
      continue;
    }
    ++sums.kernels;
    sums.from_graph += activity.from_graph ? 1 : 0;
    const OperatorId op = named_operator(trace, activity.op);
    if (op == none) {
      ++sums.without_operator;
      CHECK(activity.link == Activity::Link::no_operator);
      continue;
    }
    CHECK(activity.link == Activity::Link::tied);
    for (Sum* sum : {&sums.by_operator[trace.operators[static_cast<std::size_t>(op)].name],
                     &sums.by_phase[word(activity.phase)]})
      ++sum->count, sum->ns += activity.duration_ns();
  }
  return sums;
}

/// Reverts the findings of truth/kineto/moved.py: kernels that the script's rule assigns to another
/// phase than the one they ran in.
void move_back(Sums& sums, const nlohmann::json& moved) {
  for (const auto& some : moved) {
    const auto count = some.at("kernels").get<std::int64_t>();
    const std::int64_t ns = std::llround(some.at("us").get<double>() * 1000);
    Sum& from = sums.by_phase[some.at("from")];
    Sum& to = sums.by_phase[some.at("to")];
    from.count += count, from.ns += ns;
    to.count -= count, to.ns -= ns;
  }
}

void check_phases(const nlohmann::json& expected, const nlohmann::json& moved, Sums sums) {
  move_back(sums, moved);
  for (const auto& [phase, count] : expected.at("kernels_by_phase").items()) {
    CHECK_MESSAGE(sums.by_phase[phase].count == count.get<std::int64_t>(), phase);
    const double us = expected.at("kernel_us_by_phase").at(phase);
    CHECK_MESSAGE(std::abs(static_cast<double>(sums.by_phase[phase].ns) / 1e3 - us) < 0.01, phase);
  }
}

}  // namespace

TEST_SUITE_BEGIN("kineto_traces");

TEST_CASE("every kernel of five real traces is on its operator and in its phase") {
  const auto all = nlohmann::json::parse(std::ifstream(folder + "expected.json"));
  const auto moved = nlohmann::json::parse(std::ifstream(folder + "moved.json"));
  REQUIRE(all.size() == 5);
  for (const auto& [file, expected] : all.items()) {
    INFO(file);
    const Trace trace = read_kineto(folder + "data/" + file);
    const Sums sums = sums_of(trace);
    CHECK(trace.device_name == expected.at("gpu").get<std::string>());
    CHECK(trace.unreadable_events == 0);
    CHECK(sums.kernels == expected.at("kernels").get<std::int64_t>());
    CHECK(sums.copies == expected.at("copies").get<std::int64_t>());
    CHECK(sums.without_operator == expected.at("kernels_without_enclosing_op").get<std::int64_t>());
    CHECK(sums.from_graph == expected.at("kernels_from_cuda_graph").get<std::int64_t>());
    CHECK(trace.steps.size() == expected.at("steps").size());
    // The script rounds its sums to two digits, and times have three.
    CHECK(std::abs(static_cast<double>(busy_ns(trace)) / 1e3 -
                   expected.at("gpu_busy_us").get<double>()) < 0.01);
    for (const auto& [op, sum] : expected.at("kernel_us_by_innermost_op").items()) {
      const auto found = sums.by_operator.find(op);
      REQUIRE_MESSAGE(found != sums.by_operator.end(), op);
      CHECK_MESSAGE(found->second.count == sum[0].get<std::int64_t>(), op);
      CHECK_MESSAGE(
          std::abs(static_cast<double>(found->second.ns) / 1e3 - sum[1].get<double>()) < 0.01, op);
    }
    check_phases(expected, moved.at(file), sums);
  }
}

TEST_SUITE_END();

}  // namespace symprof::measure::test
