// Layouts of a real model: relations that hold between them for any coefficients.
#include "session/parallel_plan.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "session/mesh.h"
#include "session/session.h"
#include "tests/support/source_folder.h"

using namespace symprof;

namespace symprof::test::parallel_plan_test {
namespace {

ParallelAnswer answer_for(const std::string& mesh, const std::string& layout = {},
                          std::optional<std::int64_t> batch = std::nullopt,
                          const char* device = "h100") {
  Session session(test::source_folder() + "/models/llama_7b_gqa.pt2");
  Settings settings;
  settings.step.optimizer = Optimizer::adamw;
  settings.step.device = find_device(device);
  ParallelQuestion question{.mesh = parse_mesh(mesh)};
  question.global_batch = batch;
  question.wanted = plan::parse_layout(layout);
  return plan_parallel(session, settings, question);
}

plan::LayoutResult best_of(const std::string& mesh, const std::string& layout,
                           std::optional<std::int64_t> batch = std::nullopt) {
  return answer_for(mesh, layout, batch).plan.alternatives.at(0).result;
}

}  // namespace

TEST_SUITE("parallel_plan") {
  TEST_CASE("one device takes the time of its profile, and sends nothing") {
    const ParallelAnswer answer = answer_for("1", {}, std::nullopt, "h200");
    REQUIRE(answer.plan.best.has_value());
    CHECK(answer.plan.best->step_us == doctest::Approx(answer.one_device_us).epsilon(0.01));
    CHECK(answer.plan.best->comm_bytes() == 0);
    CHECK(answer.plan.best->exposed_us == 0);
    CHECK(answer.plan.best->memory.peak_bytes ==
          doctest::Approx(static_cast<double>(answer.one_device_bytes)).epsilon(0.1));
    CHECK(answer.block_types == 3);
    CHECK(answer.skips_blocks);  // Tables of rotary embeddings are computed once for all blocks.
  }

  TEST_CASE("the plan is the fastest layout that fits, and shards divide the memory") {
    const ParallelAnswer answer = answer_for("8");
    REQUIRE(answer.plan.best.has_value());
    for (const plan::LayoutAlternative& line : answer.plan.alternatives) {
      CAPTURE(text_of(line.result.layout));
      if (line.result.fits) CHECK(line.result.step_us >= answer.plan.best->step_us);
      CHECK(line.result.fits == (line.why != plan::WhyNot::does_not_fit));
      CHECK(line.result.layout.devices() == 8);
      CHECK(line.result.exposed_us <= line.result.step_us);
    }
    const double whole = best_of("8", "ddp=8").memory.parameters;
    CHECK(best_of("8", "fsdp=8").memory.parameters == doctest::Approx(whole / 8));
    CHECK(best_of("8", "fsdp=2 tp=4").memory.parameters > whole / 8);
  }

  TEST_CASE("the number of collectives is that of the engines") {
    const auto sum_of = [](const plan::LayoutResult& result, MeshDimension dimension,
                           profile::CollectiveKind kind) {
      for (const plan::CollectiveSum& sum : result.collectives)
        if (sum.dimension == dimension && sum.kind == kind) return sum.count;
      return std::int64_t{0};
    };
    const std::int64_t blocks = 32;
    const plan::LayoutResult sharded = best_of("8", "fsdp=8 mb=1");
    using profile::CollectiveKind;
    CHECK(sum_of(sharded, MeshDimension::shard, CollectiveKind::all_gather) == 2 * blocks + 1);
    CHECK(sum_of(sharded, MeshDimension::shard, CollectiveKind::reduce_scatter) == blocks + 1);
    const plan::LayoutResult split = best_of("8", "tp=8 mb=1", 1);
    CHECK(sum_of(split, MeshDimension::tensor, CollectiveKind::all_reduce) == (2 + 5) * blocks);
  }

  TEST_CASE("checkpoints cost time and save memory") {
    const plan::LayoutResult none = best_of("8", "fsdp=8 mb=4", 64);
    const plan::LayoutResult some = best_of("8", "fsdp=8 mb=4 ckpt=16", 64);
    CHECK(some.memory.activations < none.memory.activations);
    CHECK(some.step_us > none.step_us);
  }

  TEST_CASE(
      "backward in two halves has less idle time, and keeps gradients until the second half") {
    const plan::LayoutResult whole = best_of("8", "fsdp=2 pp=4:interleaved:mb=8", 16);
    const plan::LayoutResult halves = best_of("8", "fsdp=2 pp=4:zero-bubble:mb=8", 16);
    CHECK(halves.bubble < whole.bubble);
    CHECK(halves.step_us < whole.step_us);
    CHECK(whole.layout.checkpointed == 0);
    CHECK(halves.comm_bytes() == whole.comm_bytes());
    for (const char* layout : {"ddp=2 pp=4:zero-bubble:mb=8", "pp=8:zero-bubble:mb=16 ckpt=4"})
      CHECK_THROWS_AS(answer_for("8", layout, 16), Error);
  }

  TEST_CASE("a batch, a layout or a mesh that does not divide is refused") {
    CHECK_THROWS_AS(answer_for("8", "fsdp=8", 7), Error);
    CHECK_THROWS_AS(answer_for("8", {}, -8), Error);
    CHECK_THROWS_AS(answer_for("8", "tp=3"), Error);
    for (const char* mesh :
         {"", "0", "2x", "x8", "2x0", "-1", "1000000x1000000", "8x8x8", "2x8:", "2x8:pcie9"}) {
      CAPTURE(mesh);
      CHECK_THROWS_AS(parse_mesh(mesh), Error);
    }
  }

  TEST_CASE("a mesh may say its links") {
    for (const char* mesh : {"8", "2x8", "8:pcie4", "2x8:pcie4"})
      CHECK(text_of(parse_mesh(mesh)) == mesh);
    CHECK(parse_mesh("2x8:pcie4").devices() == 16);
    CHECK(links_file(parse_mesh("8:pcie4").links).ends_with("devices/links/pcie4.json"));
    // Four GPUs exchange more slowly over PCIe than over NVLink.
    CHECK(best_of("4:pcie3", "ddp=4").step_us > best_of("4", "ddp=4").step_us);
  }
}

}  // namespace symprof::test::parallel_plan_test
