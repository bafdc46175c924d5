// Links kernels to their calls, and a step's times to nodes.
#include "measure/cupti/step.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace symprof::measure::cupti::test::step_test {
namespace {

using Link = Activity::Link;

/// A kernel of one microsecond.
Work work(std::uint32_t correlation, std::int64_t begin_ns, const char* name = "k") {
  return {
      .name = name, .correlation = correlation, .begin_ns = begin_ns, .end_ns = begin_ns + 1000};
}

constexpr std::uint64_t first_id = 100;

/// Node 0 forward, node 1 backward, and an operator outside of all nodes.
std::vector<Call> three_calls() {
  return {{"aten::mm", 0, Phase::forward}, {"aten::mm", 1, Phase::backward}, {"aten::zero_", none}};
}

/// A step of three calls with correlation ids 11, 12 and 13.
Records three_kernels() {
  return {.works = {work(11, 2000), work(12, 4000), work(13, 8000)},
          .calls = {{11, 1000, 1500}, {12, 1600, 1800}, {13, 1900, 9000}},
          .ids = {{11, first_id}, {12, first_id + 1}, {13, first_id + 2}}};
}

}  // namespace

TEST_SUITE_BEGIN("cupti_step");

TEST_CASE("kernels are linked by correlation id, in any record order") {
  Records records = three_kernels();
  std::ranges::reverse(records.works);
  std::ranges::reverse(records.ids);
  const std::vector<Call> calls = three_calls();
  const std::vector<Origin> origins = origins_of(records, calls, first_id);
  CHECK(origins.at(0).call == &calls[2]);
  CHECK(origins.at(0).link == Link::no_operator);
  CHECK(origins.at(1).call == &calls[1]);
  CHECK(origins.at(1).link == Link::tied);
  CHECK(origins.at(2).call == &calls[0]);
}

TEST_CASE("a timeline begins with its first call") {
  std::vector<Call> calls = three_calls();
  calls[0].begin_ns = 900, calls[0].end_ns = 1550;
  calls[1].begin_ns = 1590, calls[1].end_ns = 1850;
  calls[2].begin_ns = 1890, calls[2].end_ns = 9100;
  Records records = three_kernels();
  records.works.push_back(work(0, 9000));  // No correlation.
  const Timeline timeline = timeline_of(records, calls, first_id);
  REQUIRE(timeline.calls.size() == 3);
  CHECK(timeline.calls[1].begin_ns == 1590 - 900);
  CHECK(timeline.calls[1].node == 1);
  REQUIRE(timeline.works.size() == 4);
  CHECK(timeline.works[1].call == 1);
  CHECK(timeline.works[1].begin_ns == 4000 - 900);
  CHECK(timeline.works[1].end_ns == 5000 - 900);
  CHECK(timeline.works[3].call == none);
}

TEST_CASE("missing links have a reason") {
  Records records = three_kernels();
  records.works.push_back(work(0, 10'000));   // No correlation.
  records.works.push_back(work(77, 11'000));  // Neither call nor external id: dropped buffers.
  records.works.push_back(work(14, 12'000));  // A call outside of all operators.
  records.calls.push_back({14, 11'500, 11'600});
  records.works.push_back(work(15, 13'000));  // An external id of another step.
  records.calls.push_back({15, 12'500, 12'600});
  records.ids.push_back({15, first_id - 1});
  const std::vector<Call> calls = three_calls();
  const std::vector<Origin> origins = origins_of(records, calls, first_id);
  CHECK(origins.at(3).link == Link::no_correlation);
  CHECK(origins.at(4).link == Link::no_call);
  CHECK(origins.at(5).link == Link::no_operator);
  CHECK(origins.at(6).link == Link::no_operator);
  CHECK(origins.at(6).call == nullptr);
}

TEST_CASE("ids beyond 2^31, and reused ids") {
  constexpr std::uint32_t high = 0xFFFFFFF0U;
  const Records records{.works = {work(high, 2000), work(3, 5000), work(3, 1500)},
                        .calls = {{high, 1000, 1100}, {3, 4000, 4100}, {3, 500, 600}},
                        .ids = {{high, first_id}, {3, first_id + 1}}};
  const std::vector<Call> calls = three_calls();
  const std::vector<Origin> origins = origins_of(records, calls, first_id);
  CHECK(origins.at(0).call == &calls[0]);
  CHECK(origins.at(1).call == &calls[1]);
  const Step step = summarize(records, calls, first_id, 2);
  // 5000 - 4100 of the later call, 1500 - 600 of the earlier, 2000 - 1100.
  CHECK(step.delays_ns == std::vector<std::int64_t>{900, 900, 900});
}

TEST_CASE("a graph's kernels share the id of its launch") {
  Records records{
      .works = {work(9, 2000), work(9, 3500)}, .calls = {{9, 1000, 1200}}, .ids = {{9, first_id}}};
  for (Work& one : records.works) one.from_graph = true;
  const Step step = summarize(records, three_calls(), first_id, 2);
  CHECK(step.nodes.at(0).forward_ns == 2000);
}

TEST_CASE("times belong to nodes and passes; the rest has a name and a reason") {
  const Step step = summarize(three_kernels(), three_calls(), first_id, 2);
  CHECK(step.nodes.at(0).forward_ns == 1000);
  CHECK(step.nodes.at(1).backward_ns == 1000);
  REQUIRE(step.unattributed.size() == 1);
  CHECK(step.unattributed[0].name == "aten::zero_");
  CHECK(step.unattributed[0].times.total_ns() == 1000);
  CHECK(step.works == 3);
  CHECK(step.sum_ns == 3000);
}

TEST_CASE("concurrent kernels on streams or devices count once as busy time") {
  Records records = three_kernels();
  records.works[1].begin_ns = 2500, records.works[1].end_ns = 3500;  // Half over the first.
  records.works[1].stream = 14, records.works[1].device = 1;
  const Step step = summarize(records, three_calls(), first_id, 2);
  CHECK(step.busy_ns == (3500 - 2000) + 1000);
  CHECK(step.span_ns == 9000 - 2000);
  CHECK(step.sum_ns == 3000);
}

TEST_CASE("a kernel that starts inside its call has no delay") {
  const Step step = summarize(three_kernels(), three_calls(), first_id, 2);
  CHECK(step.delays_ns == std::vector<std::int64_t>{0, 2000 - 1500, 4000 - 1800});
}

TEST_CASE("kernels that differ only in time are one row, with the median over steps") {
  std::vector<Step> steps;
  for (const std::int64_t extra : {0, 500, 100}) {
    Records records = three_kernels();
    records.works.push_back(work(11, 12'000));
    records.works[0].end_ns += extra;
    steps.push_back(summarize(records, three_calls(), first_id, 2));
  }
  steps[1].dropped_records = 3;
  const DeviceRun run = median_of(steps);
  REQUIRE(run.kernels.size() == 3);
  const auto found = std::ranges::find(run.kernels, 0, &KernelRun::node);
  REQUIRE(found != run.kernels.end());
  CHECK(found->count == 2);
  CHECK(found->ns == 2000 + 100);
  CHECK(run.works == 4);
  CHECK(run.sum_ns == 4000 + 100);
  CHECK(run.dropped_records == 3);
  CHECK(run.unattributed.at(0).times.total_ns() == 1000);
}

TEST_CASE("a kernel in one step of three is not in the median step") {
  std::vector<Step> steps(3, summarize(three_kernels(), three_calls(), first_id, 2));
  Records more = three_kernels();
  more.works.push_back(work(11, 12'000, "once"));
  steps[2] = summarize(more, three_calls(), first_id, 2);
  const DeviceRun run = median_of(steps);
  CHECK(std::ranges::none_of(run.kernels,
                             [](const KernelRun& kernel) { return kernel.name == "once"; }));
}

TEST_SUITE_END();

}  // namespace symprof::measure::cupti::test::step_test
