#include "profile/collective_times.h"

#include <doctest/doctest.h>

using namespace symprof;
using namespace symprof::profile;

TEST_SUITE("collective_times") {
  TEST_CASE("tensor-parallel ranks are adjacent, pipelines cross nodes first") {
    const MeshShape mesh{.pipeline = 2, .data = 2, .shard = 4, .tensor = 4, .devices_per_node = 8};
    CHECK(mesh.nodes_of(MeshDimension::tensor, 4) == 1);
    CHECK(mesh.nodes_of(MeshDimension::shard, 4) == 2);
    CHECK(mesh.nodes_of(MeshDimension::data, 2) == 2);
    CHECK(mesh.nodes_of(MeshDimension::pipeline, 2) == 2);
    const MeshShape one_node{.pipeline = 2, .tensor = 4, .devices_per_node = 8};
    CHECK(one_node.nodes_of(MeshDimension::pipeline, 2) == 1);
  }

  TEST_CASE("a collective's time depends on its kind, bytes and group") {
    Links links{.nvlink_generation = 4, .channels = 8, .channel_gb = 48};
    links.network_bytes_per_second = 50e9;
    const CollectiveModel model(links, 9);
    const MeshShape mesh{.shard = 16, .devices_per_node = 8};
    const Collective gather{.op = CollectiveOperator::all_gather,
                            .dimension = MeshDimension::shard,
                            .group_size = 16,
                            .input_bytes = 1 << 20,
                            .output_bytes = 16 << 20};
    const auto times = times_of(std::span(&gather, 1), model, mesh);
    REQUIRE(times.size() == 1);
    const CollectiveTime expected = model.time({CollectiveKind::all_gather, 16 << 20, 16, 2});
    CHECK(times[0].us == expected.us);
    CHECK(times[0].high_us == expected.high_us);
    const Collective hop{.op = CollectiveOperator::send,
                         .dimension = MeshDimension::pipeline,
                         .group_size = 2,
                         .input_bytes = 1 << 20};
    const MeshShape stages{.pipeline = 4, .tensor = 8, .devices_per_node = 8};
    CHECK(work_of(hop, stages) == CollectiveWork{CollectiveKind::send_receive, 1 << 20, 2, 2});
  }
}
