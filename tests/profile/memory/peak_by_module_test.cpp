#include "profile/memory/peak_by_module.h"

#include <doctest/doctest.h>

#include <map>

#include "profile/memory/holdings.h"
#include "profile/memory/step_memory.h"
#include "report/profile/peak_owners.h"
#include "tests/support/recording_builder.h"

namespace symprof::test::peak_by_module_test {
namespace {

using profile::peak_by_module;
using profile::simulate_step_memory;
using profile::operator""_MiB;
using Kind = PeakOwner::Kind;

constexpr std::int64_t weight = 4_MiB, batch = 2_MiB, output = 2_MiB, head = 8_MiB,
                       workspace = 32_MiB, scratch = 6_MiB, unused = 2_MiB;

/// A step of AdamW on two layers in a list, the second with a product, and a head.
struct TrainingStep : RecordingBuilder {
  NodeId input = node("x", NodeKind::input);
  NodeId first = in_module("first", "model.layers.0");
  NodeId second = in_module("second", "model.layers.1.linear");
  NodeId last = in_module("last", "head");
  NodeId update = node("optimizer", NodeKind::optimizer);
  DeviceSpec device{.cublas_workspace_bytes = workspace};

  TrainingStep() {
    storage({.bytes = unused, .kind = StorageKind::parameter});
    const StorageId weights[] = {parameter(weight, first), parameter(weight, second),
                                 parameter(head, last)};
    const StorageId x = storage({.bytes = batch, .kind = StorageKind::input, .node = input});
    event(EventKind::allocate, x, none);
    for (const StorageId of : weights) {
      const std::int64_t bytes = at(of).bytes;
      event(EventKind::allocate,
            storage({.bytes = bytes, .kind = StorageKind::optimizer_state, .parameter = of}), none);
    }
    make({.bytes = output, .node = first, .saved = true}, call("aten::relu", {}, {}, first));
    make({.bytes = output, .node = second, .saved = true},
         call_on("aten::mm", {over(weights[1], tensor({8, 8})), over(weights[1], tensor({8, 8}))},
                 {}, second));
    // Gradients are made by the node that follows, but belong to the layer of their parameter.
    for (const StorageId of : weights)
      make({.bytes = at(of).bytes, .kind = StorageKind::gradient, .node = last, .parameter = of},
           call("aten::relu", {}, {}, last, Phase::backward));
    make({.bytes = scratch, .node = update},
         call("aten::_foreach_sqrt", {}, {}, update, Phase::optimizer));
  }

  NodeId in_module(const std::string& name, const std::string& path) {
    const NodeId id = node(name);
    (*this)[id].module = path;
    return id;
  }
  StorageId parameter(std::int64_t bytes, NodeId user) {
    const StorageId id = storage({.bytes = bytes, .kind = StorageKind::parameter});
    (*this)[user].inputs.push_back({none, id});
    event(EventKind::allocate, id, none);
    return id;
  }
  void make(StorageRecord record, CallId by) {
    record.allocated_by = by;
    event(EventKind::allocate, storage(record), by);
  }
};

std::map<std::string, std::int64_t> totals(const std::vector<PeakOwner>& rows) {
  std::map<std::string, std::int64_t> result;
  for (const PeakOwner& row : rows) result[report::label(row)] = row.held.total();
  CHECK(result.size() == rows.size());  // No two rows have one name.
  return result;
}

}  // namespace

TEST_SUITE("peak_by_module") {
  TEST_CASE(
      "a parameter's module owns its gradient and optimizer states; every byte is in one row") {
    TrainingStep step;
    const StepMemory memory = simulate_step_memory(step.recording(), step.device, {.steps = 1});
    for (const std::optional<int> depth : {std::optional<int>(), std::optional<int>(3)}) {
      const std::vector<PeakOwner> rows = peak_by_module(memory, step.recording(), depth);
      const std::string second = depth ? "model.layers.1" : "model.layers.1.linear";
      CHECK(totals(rows) ==
            std::map<std::string, std::int64_t>{{"model.layers.0", 3 * weight + output},
                                                {second, 3 * weight + output},
                                                {"head", 3 * head},
                                                {"input x", batch},
                                                {"optimizer", scratch},
                                                {"cuBLAS workspace", workspace},
                                                {"(no owner known)", unused}});
      CHECK(rows.front().kind == Kind::workspace);  // Largest first.
      std::int64_t all = 0;
      for (const PeakOwner& row : rows) all += row.held.total();
      CHECK(all == memory.peak_allocated_bytes);
    }
    const std::vector<PeakOwner> folded = peak_by_module(memory, step.recording(), 1);
    CHECK(totals(folded)["model"] == 2 * (3 * weight + output));
  }

  TEST_CASE("categories are separate in a row, and sum over the rows") {
    TrainingStep step;
    const StepMemory memory = simulate_step_memory(step.recording(), step.device);
    MemoryBreakdown sum;
    for (const PeakOwner& row : peak_by_module(memory, step.recording(), std::nullopt)) {
      for (std::size_t i = 0; i < memory_categories; ++i) sum.bytes[i] += row.held.bytes[i];
      if (row.name != "head") continue;
      CHECK(row.held[MemoryCategory::parameters] == head);
      CHECK(row.held[MemoryCategory::gradients] == head);
      CHECK(row.held[MemoryCategory::optimizer] == head);
    }
    CHECK(sum.bytes == memory.at_peak.bytes);
  }

  TEST_CASE("a state without a parameter belongs to the optimizer") {
    TrainingStep step;
    const StorageId scale =
        step.storage({.bytes = output, .kind = StorageKind::optimizer_state, .node = step.first});
    step.event(EventKind::allocate, scale, none);
    CHECK(profile::storage_owners(step.recording())[scale] == step.update);
  }

  TEST_CASE("in a program, earlier steps' storages belong to their user in the range") {
    TrainingStep step;
    const StorageId weight_of_earlier =
        step.storage({.bytes = output, .kind = StorageKind::parameter, .node = step.first});
    step.event(EventKind::allocate, weight_of_earlier, 0);
    Recording recording = step.recording();
    recording.storages[weight_of_earlier].allocated_by = 0;
    recording.nodes[step.first].inputs.push_back({none, weight_of_earlier});
    recording.nodes[step.last].inputs.push_back({none, weight_of_earlier});
    const auto nodes = static_cast<NodeId>(recording.nodes.size());
    const auto owner_in = [&](NodeId first_node) {
      const profile::ProgramRange range{
          .first_call = 1, .first_node = first_node, .end_node = nodes};
      return profile::storage_owners(recording, range)[weight_of_earlier];
    };
    CHECK(owner_in(0) == step.first);
    CHECK(owner_in(step.last) == step.last);
  }

  TEST_CASE("a failed request keeps the peak until then, with its owners") {
    TrainingStep step;
    const StepMemory memory =
        simulate_step_memory(step.recording(), step.device, {.device_bytes = 64_MiB});
    REQUIRE(memory.refused_call);
    std::int64_t all = 0;
    for (const NodeHolding& holding : memory.peak_by_node) all += holding.held.total();
    CHECK(all == memory.peak_allocated_bytes);
  }

  TEST_CASE("the telling depth is the smallest at which no module has more than a quarter") {
    RecordingBuilder builder;
    const auto hold = [&](const std::string& path, std::int64_t bytes) {
      const NodeId id = builder.node(path);
      builder[id].module = path;
      builder.event(EventKind::allocate, builder.storage({.bytes = bytes, .node = id}),
                    builder.call("aten::relu", {}, {}, id));
    };
    for (const char* part : {"a", "b"})
      for (const char* layer : {"0", "1", "2"})
        for (const char* step : {"x", "y"})
          hold(std::string("model.") + part + "." + layer + "." + step, 1_MiB);
    const auto depth = [&] {
      return profile::telling_depth(simulate_step_memory(builder.recording(), {}),
                                    builder.recording());
    };
    CHECK(depth() == 3);  // model.a.0 has a sixth.
    hold("embedding", 40_MiB);
    CHECK(depth() == 1);  // It has most of it at every depth.
  }

  TEST_CASE("a graph without modules is reported by nodes") {
    RecordingBuilder builder;
    for (const char* name : {"MatMul_0", "MatMul_1"}) {
      const NodeId id = builder.node(name);
      builder.event(EventKind::allocate, builder.storage({.bytes = output, .node = id}),
                    builder.call("aten::relu", {}, {}, id));
    }
    const StepMemory memory = simulate_step_memory(builder.recording(), {}, {.steps = 1});
    CHECK(totals(peak_by_module(memory, builder.recording(), 2)) ==
          std::map<std::string, std::int64_t>{{"MatMul_0", output}, {"MatMul_1", output}});
  }

  TEST_CASE("modules that differ only in numbers are merged") {
    TrainingStep step;
    step[step.second].module = "model.layers.1";
    const StepMemory memory = simulate_step_memory(step.recording(), step.device, {.steps = 1});
    REQUIRE(profile::telling_depth(memory, step.recording()) == 3);
    CHECK(report::owners_text(memory, step.recording()) ==
          "cuBLAS workspace 32.00 MiB, model.layers.* (2 modules) 28.00 MiB, head 24.00 MiB, "
          "optimizer 6.00 MiB, others 4.00 MiB");
  }

  TEST_CASE("the table shows the largest rows and sums the others") {
    TrainingStep step;
    const StepMemory memory = simulate_step_memory(step.recording(), step.device, {.steps = 1});
    const report::PeakRows found =
        report::peak_rows(memory, step.recording(), {.depth = 3, .top = 2});
    REQUIRE(found.rows.size() == 2);
    REQUIRE(found.others);
    CHECK(found.other_count == 5);
    CHECK(found.rows[0].held.total() + found.rows[1].held.total() + found.others->held.total() ==
          memory.peak_allocated_bytes);
  }
}

}  // namespace symprof::test::peak_by_module_test
