// NCCL's own table, as its tuning logs of version 2.27.5 print it on nodes of 8 H100
// (meta-pytorch/autoparallel a54c2529, autoparallel/cost_models/nccl_cost_model.py): microseconds
// and GB/s with one decimal.
#include "profile/time/collectives/nccl.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

using namespace symprof::profile;

namespace {

constexpr NcclTopology h100_nodes{.generation = NcclGeneration::hopper,
                                  .host = HostProcessor::intel,
                                  .channels = 8,
                                  .intra = 48,
                                  .inter = 48};

/// "23.3/41.6": as NCCL prints a way; "%.1f" of what was printed without a decimal is the same.
std::string printed(const NcclWay& way) {
  return fmt::format("{:.1f}/{:.1f}", way.latency_us, way.bandwidth_gb);
}

std::string ways(CollectiveKind kind, int nodes, NcclAlgorithm algorithm) {
  std::string text;
  for (const NcclWay& way :
       nccl_ways({.kind = kind, .bytes = 1, .ranks = 8 * nodes, .nodes = nodes}, h100_nodes))
    if (way.algorithm == algorithm) text += (text.empty() ? "" : " ") + printed(way);
  return text;
}

}  // namespace

TEST_SUITE("nccl") {
  TEST_CASE("the table of NCCL's tuning logs, LL LL128 Simple") {
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
      CHECK(ways(kind, 2, NcclAlgorithm::ring) == "23.3/41.6 44.6/313.2 70.0/409.6");
      CHECK(ways(kind, 4, NcclAlgorithm::ring) == "42.7/21.1 79.2/303.1 145.6/396.4");
      CHECK(ways(kind, 8, NcclAlgorithm::ring) == "81.5/20.7 148.4/298.3 296.8/390.1");
      CHECK(ways(kind, 32, NcclAlgorithm::ring) == "314.3/20.5 563.6/294.8 1204.0/385.5");
    }
    const CollectiveKind all_reduce = CollectiveKind::all_reduce;
    CHECK(ways(all_reduce, 2, NcclAlgorithm::ring) == "40.0/20.8 75.2/156.6 131.6/204.8");
    CHECK(ways(all_reduce, 8, NcclAlgorithm::ring) == "156.4/10.4 282.8/149.1 585.2/195.0");
    CHECK(ways(all_reduce, 2, NcclAlgorithm::tree) == "25.2/16.6 48.5/124.8 92.4/140.8");
    CHECK(ways(all_reduce, 8, NcclAlgorithm::tree) == "45.2/8.7 82.5/98.6 148.4/122.4");
  }

  TEST_CASE("the fastest way is taken") {
    const CollectiveWork small{CollectiveKind::all_reduce, 4096, 8, 1};
    const NcclChoice few = nccl_choice(small, h100_nodes);
    CHECK(few.way.protocol == NcclProtocol::ll);
    const CollectiveWork large{CollectiveKind::all_reduce, std::int64_t{1} << 30, 8, 1};
    const NcclChoice much = nccl_choice(large, h100_nodes);
    CHECK(much.way.protocol == NcclProtocol::simple);
    CHECK(much.way.algorithm == NcclAlgorithm::ring);
    // 384 GB/s bus bandwidth; each byte is sent 2 (n - 1) / n times.
    CHECK(much.us == doctest::Approx(8.4 + 14 * 3.4 + std::pow(2, 30) * 14 / 8 / 384e3));
    CHECK(nccl_choice({CollectiveKind::all_reduce, 4096, 1, 1}, h100_nodes).us == 0);
  }

  TEST_CASE("NVLink SHARP between and within nodes") {
    NcclTopology topology = h100_nodes;
    topology.nvls_channels = 16, topology.nvls_intra = 20;
    const auto of = [&](int nodes) {
      return nccl_ways({CollectiveKind::all_reduce, 1, 8 * nodes, nodes}, topology).back();
    };
    CHECK(of(1).algorithm == NcclAlgorithm::nvls);
    CHECK(of(1).latency_us == 25);
    CHECK(of(1).bandwidth_gb == doctest::Approx(16 * (20 * .85 * 15 / 16 * 2) * 8 / 14));
    CHECK(of(4).algorithm == NcclAlgorithm::nvls_tree);
    CHECK(of(4).latency_us == doctest::Approx(25 + 2 * 2 * 20.9));
  }

  TEST_CASE("collectives without an NCCL table use the links") {
    const auto us = [&](CollectiveKind kind, int ranks, int nodes) {
      return nccl_choice({kind, 384'000'000, ranks, nodes}, h100_nodes).us;
    };
    CHECK(us(CollectiveKind::send_receive, 2, 1) == doctest::Approx(8.4 + 3.4 + 1000));
    CHECK(us(CollectiveKind::all_to_all, 8, 1) == doctest::Approx(8.4 + 3.4 + 1000 * 7.0 / 8));
    // Each of the eight ranks of a node has an eighth of its network.
    CHECK(us(CollectiveKind::send_receive, 16, 2) == doctest::Approx(8.4 + 14 + 8000));
    CHECK(us(CollectiveKind::all_to_all, 16, 2) == doctest::Approx(8.4 + 14 + 8000 * 8.0 / 16));
  }
}
