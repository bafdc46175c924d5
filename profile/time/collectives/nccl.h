// NCCL's own cost model of collectives, by which it chooses an algorithm and a protocol
// (NVIDIA/nccl, src/graph/tuning.cc at 2.30).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace symprof::profile {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive,
};
constexpr int collective_kinds = static_cast<int>(CollectiveKind::send_receive) + 1;
/// "all_reduce"
std::string_view name(CollectiveKind kind);
std::optional<CollectiveKind> collective_called(std::string_view name);

/// One collective of a group, with equally many ranks on each node.
struct CollectiveWork {
  CollectiveKind kind = CollectiveKind::all_reduce;
  /// Counted as in nccl-tests: all-gather: output of each rank; reduce-scatter: input of each rank;
  /// all-to-all: what each rank sends, including its own part.
  std::int64_t bytes = 0;
  int ranks = 1, nodes = 1;
  auto operator<=>(const CollectiveWork&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Columns of NCCL's tables.
enum class NcclGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
NcclGeneration generation_of(int compute_major);

enum class NcclAlgorithm : std::uint8_t { tree, ring, nvls, nvls_tree, direct };
enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
std::string_view name(NcclAlgorithm algorithm);
std::string_view name(NcclProtocol protocol);

enum class HostProcessor : std::uint8_t { intel, amd };

/// Results of NCCL's topology search at run time, in GB/s (1e9 bytes) per channel.
struct NcclTopology {
  NcclGeneration generation = NcclGeneration::hopper;
  bool has_nvlink = true;
  bool has_ll128 = true;  ///< Not over PCIe.
  HostProcessor host = HostProcessor::intel;
  int channels = 1;
  double intra = 0, inter = 0;
  int nvls_channels = 0;  ///< 0: no NVLink SHARP.
  double nvls_intra = 0;
};

/// One row of NCCL's own table ("Algorithm | Protocol | latency / bandwidth").
struct NcclWay {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency_us = 0, bandwidth_gb = 0;  ///< Algorithm bandwidth, in GB/s.
};

/// NCCL's algorithm and protocol choices for a collective. All-to-all and send-receive, which NCCL
/// has no table for, have one: the Simple protocol's latency, and the links.
std::vector<NcclWay> nccl_ways(const CollectiveWork& work, const NcclTopology& topology);

/// NCCL's estimate of `way`, in microseconds.
double way_us(const NcclWay& way, const CollectiveWork& work, const NcclTopology& topology);

struct NcclChoice {
  NcclWay way;
  double us = 0;
};
/// NCCL's choice: the fastest way. 0 µs for a group of one rank.
NcclChoice nccl_choice(const CollectiveWork& work, const NcclTopology& topology);

}  // namespace symprof::profile
