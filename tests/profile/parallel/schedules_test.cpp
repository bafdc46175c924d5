// PyTorch's own schedules, built and run by truth/parallel/pipelines.py.
#include "profile/parallel/schedules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/support/source_folder.h"

using namespace symprof;
using namespace symprof::profile;

namespace {

using Truth = nlohmann::json;

Truth pipeline_truth() {
  std::ifstream file(test::source_folder() + "/truth/parallel/pipelines.json");
  return Truth::parse(file);
}

Pipeline pipeline_of(const Truth& row) {
  const int ranks = row["ranks"];
  return {*pipeline_called(row["schedule"].get<std::string>()), ranks,
          row["stages"].get<int>() / ranks, row["microbatches"]};
}

StageTimes unit_times(const Pipeline& pipeline) {
  const std::vector<double> ones(static_cast<std::size_t>(pipeline.stages()), 1);
  return {ones, ones, ones, 0};
}

std::vector<std::string> texts_of(const std::vector<PipelineAction>& actions) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::size_t together = actions[i].overlaps_next ? 2 : 1;
    texts.push_back(text_of(std::span(actions).subspan(i, together)));
    i += together - 1;
  }
  return texts;
}

}  // namespace

TEST_SUITE("schedules") {
  TEST_CASE("makespan, idle time and microbatches in flight are those of all 26 runs") {
    const Truth truth = pipeline_truth();
    REQUIRE(truth.size() == 26);
    for (const Truth& row : truth) {
      CAPTURE(row["schedule"].get<std::string>());
      const Pipeline pipeline = pipeline_of(row);
      const auto actions = actions_of(pipeline);
      const PipelineRun run = run_pipeline(pipeline, actions, unit_times(pipeline));
      CHECK(run.makespan == row["makespan"].get<double>());
      CHECK(run.idle == row["idle"].get<std::vector<double>>());
      CHECK(run.in_flight == row["in_flight"].get<std::vector<int>>());
      CHECK(std::round(run.bubble() * 1e6) == std::round(row["bubble"].get<double>() * 1e6));
      if (!row.contains("actions")) continue;
      for (int rank = 0; rank < pipeline.ranks; ++rank)
        CHECK(texts_of(actions[static_cast<std::size_t>(rank)]) ==
              row["actions"][std::to_string(rank)].get<std::vector<std::string>>());
    }
  }

  TEST_CASE("bubbles of equal stages equal the papers' formulas") {
    for (const int ranks : {2, 4, 8})
      for (const int microbatches : {8, 16, 32}) {
        const auto bubble = [&](PipelineKind kind, int chunks) {
          const Pipeline pipeline{kind, ranks, chunks, microbatches};
          return run_pipeline(pipeline, actions_of(pipeline), unit_times(pipeline)).bubble();
        };
        const double idle = ranks - 1, m = microbatches;
        CHECK(bubble(PipelineKind::gpipe, 1) == doctest::Approx(idle / (m + idle)));
        CHECK(bubble(PipelineKind::one_f_one_b, 1) == doctest::Approx(idle / (m + idle)));
        CHECK(bubble(PipelineKind::interleaved, 2) == doctest::Approx(idle / (2 * m + idle)));
      }
  }

  TEST_CASE("in zero-bubble schedules weight gradients wait as many steps as the rank's index") {
    const Pipeline pipeline{PipelineKind::interleaved_zero_bubble, 4, 2, 8};
    const PipelineRun run = run_pipeline(pipeline, actions_of(pipeline), unit_times(pipeline));
    CHECK(run.waiting == std::vector{1, 2, 3, 4});
    const Pipeline whole{PipelineKind::interleaved, 4, 2, 8};
    CHECK(run_pipeline(whole, actions_of(whole), unit_times(whole)).waiting ==
          std::vector{0, 0, 0, 0});
  }

  TEST_CASE("a transfer delays each hop between ranks, and stages take their own times") {
    const Pipeline pipeline{PipelineKind::gpipe, 2, 1, 1};
    const StageTimes times{{1, 2}, {3, 4}, {5, 6}, 0.5};
    const PipelineRun run = run_pipeline(pipeline, actions_of(pipeline), times);
    CHECK(run.makespan == 1 + 0.5 + 2 + (4 + 6) + 0.5 + (3 + 5));
    CHECK(run.idle[0] == run.makespan - 9);
  }

  TEST_CASE("invalid numbers of a schedule are refused, and so is a deadlock") {
    CHECK_THROWS_AS(actions_of({PipelineKind::one_f_one_b, 4, 2, 8}), Error);
    CHECK_THROWS_AS(actions_of({PipelineKind::zbv_zero_bubble, 4, 1, 8}), Error);
    CHECK_THROWS_AS(actions_of({PipelineKind::dual_pipe_v, 4, 2, 4}), Error);
    CHECK_THROWS_AS(actions_of({PipelineKind::interleaved, 4, 2, 9}), Error);
    CHECK_THROWS_AS(actions_of({PipelineKind::gpipe, 4, 1, 0}), Error);
    const Pipeline one{PipelineKind::gpipe, 1, 1, 1};
    const PipelineAction backward{Computation::backward, 0, 0};
    CHECK_THROWS_AS(run_pipeline(one, {{backward}}, unit_times(one)), Error);
  }

  TEST_CASE("each message is sent once and received once, before its use") {
    using Message = PipelineWork::Message;
    for (const Pipeline& pipeline :
         {Pipeline{PipelineKind::gpipe, 4, 1, 8}, Pipeline{PipelineKind::one_f_one_b, 4, 1, 8},
          Pipeline{PipelineKind::interleaved, 4, 2, 8},
          Pipeline{PipelineKind::looped_bfs, 4, 3, 8}}) {
      CAPTURE(row_of(pipeline.kind).name);
      const auto works = work_of(pipeline);
      std::map<Message, int> counts;
      for (const auto& of_rank : works)
        for (std::size_t i = 0; i < of_rank.size(); ++i) {
          const PipelineWork& work = of_rank[i];
          ++counts[work.message];
          const bool is_forward = work.action.computation == Computation::forward;
          const bool needs = work.message == Message::none &&
                             work.action.stage != (is_forward ? 0 : pipeline.stages() - 1);
          if (!needs) continue;
          const PipelineWork wanted{
              {Computation::forward, work.action.stage, work.action.microbatch},
              is_forward ? Message::receive_forward : Message::receive_backward};
          CHECK(std::find(of_rank.begin(), of_rank.begin() + static_cast<std::ptrdiff_t>(i),
                          wanted) != of_rank.begin() + static_cast<std::ptrdiff_t>(i));
        }
      const int hops = (pipeline.stages() - 1) * pipeline.microbatches;
      for (const Message message : {Message::send_forward, Message::receive_forward,
                                    Message::send_backward, Message::receive_backward})
        CHECK(counts[message] == hops);
    }
    CHECK_THROWS_AS(work_of({PipelineKind::zbv_zero_bubble, 4, 2, 8}), Error);
  }
}
