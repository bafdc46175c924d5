// Tables and formulas of NVIDIA/nccl, src/graph/tuning.cc at 2.30 (commit 5067397c): bandwidths of
// ncclTopoTuneModel, and the time of ncclTopoGetAlgoTime. Each function names the part it follows.
#include "profile/time/collectives/nccl.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace symprof::profile {
namespace {

using ByProtocol = std::array<double, 3>;  // LL, LL128, Simple.
using ByNodes = std::array<double, 3>;     // One node, two, four and more.

constexpr ByProtocol tree_base = {6.8, 14, 8.4}, ring_base = {6.6, 14, 8.4};
constexpr ByProtocol tree_nvlink = {.6, 1.25, 4}, ring_nvlink = {.6, 1.9, 3.4};
constexpr ByProtocol tree_pci = {1, 1.9, 4}, ring_pci = {1, 2.5, 5.7};
constexpr ByProtocol tree_net = {5, 8.5, 14}, ring_net = {2.7, 4, 14};
constexpr double nvls_nvlink = 25, nvls_net = 18, nvls_tree_net = 20.9;

// By NcclGeneration.
constexpr ByNodes ll_most[] = {{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}};
constexpr ByNodes ring_ll128_most[] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}};
constexpr ByNodes tree_ll128_most[] = {
    {20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}};
constexpr ByNodes tree_most[] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}};
constexpr ByNodes nvls_tree_most[] = {
    {26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}};
constexpr double nvls_efficiency[] = {0, 0, .85, .74};

// treeCorrectionFactor: by protocol and by the logarithm of the size in units of 64 bytes.
constexpr std::array<double, 24> tree_correction[] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

template <class T>
std::size_t place(T value) {
  return static_cast<std::size_t>(value);
}

double log2_of_count(int count) {
  return std::bit_width(static_cast<unsigned>(std::max(count, 1))) - 1;
}

/// One collective on one topology; members are the terms of tuning.cc.
class Tuner {
 public:
  Tuner(const CollectiveWork& work, const NcclTopology& topology)
      : work_(work), topology_(topology), nodes_column_(place(std::min(work.nodes, 3) - 1)) {}

  NcclWay ring(NcclProtocol protocol) const {
    return {NcclAlgorithm::ring, protocol, ring_latency(protocol), ring_bandwidth(protocol)};
  }

  NcclWay tree(NcclProtocol protocol) const {
    const std::size_t p = place(protocol);
    double latency = tree_base[p];
    const double intra = (topology_.has_nvlink ? tree_nvlink : tree_pci)[p];
    latency += 2 * ((ranks_per_node() - 1) * intra + log2_of_count(work_.nodes) * tree_net[p]);
    return {NcclAlgorithm::tree, protocol, latency, tree_bandwidth(protocol)};
  }

  /// NVLink SHARP within a node, and its trees between nodes.
  NcclWay nvls() const {
    const bool is_tree = work_.nodes > 1;
    const double latency =
        nvls_nvlink + (is_tree ? 2 * log2_of_count(work_.nodes) * nvls_tree_net : 0);
    const int channels = topology_.nvls_channels;
    double bandwidth = topology_.nvls_intra * nvls_efficiency[generation()] * (channels - 1) /
                       static_cast<double>(channels);
    bandwidth *= work_.kind == CollectiveKind::all_reduce
                     ? 2
                     : (ranks_per_node() - 1) / static_cast<double>(ranks_per_node());
    if (is_tree)
      bandwidth = std::min({bandwidth, topology_.inter * (work_.nodes == 2 ? 2 : 1),
                            nvls_tree_most[generation()][nodes_column_]});
    bandwidth *= channels;
    if (work_.kind == CollectiveKind::all_reduce) bandwidth *= ring_ratio();
    return {is_tree ? NcclAlgorithm::nvls_tree : NcclAlgorithm::nvls, NcclProtocol::simple, latency,
            bandwidth};
  }

  bool has_nvls() const {
    if (topology_.nvls_channels < 2 || nvls_efficiency[generation()] <= 0) return false;
    if (ranks_per_node() <= 2) return false;
    return work_.nodes == 1 || work_.kind == CollectiveKind::all_reduce;
  }

  /// Collectives without a table in NCCL. Sends use the rank's own network link.
  NcclWay direct() const {
    const std::size_t p = place(NcclProtocol::simple);
    const double intra = topology_.channels * topology_.intra;
    const double inter = topology_.channels * topology_.inter / ranks_per_node();
    const double latency = ring_base[p] + (work_.nodes > 1        ? ring_net
                                           : topology_.has_nvlink ? ring_nvlink
                                                                  : ring_pci)[p];
    if (work_.kind == CollectiveKind::send_receive)
      return {NcclAlgorithm::direct, NcclProtocol::simple, latency,
              work_.nodes > 1 ? inter : intra};
    const double ranks = work_.ranks;
    const double away = (ranks - ranks_per_node()) / ranks / inter;
    const double here = (ranks_per_node() - 1) / ranks / intra;
    return {NcclAlgorithm::direct, NcclProtocol::simple, latency,
            1 / std::max(work_.nodes > 1 ? away : 0, here)};
  }

 private:
  std::size_t generation() const { return place(topology_.generation); }
  int ranks_per_node() const { return std::max(work_.ranks / std::max(work_.nodes, 1), 1); }

  int steps() const {
    if (work_.kind == CollectiveKind::all_reduce) return 2 * (work_.ranks - 1);
    return work_.kind == CollectiveKind::broadcast ? work_.ranks : work_.ranks - 1;
  }
  /// Ratio of algorithm bandwidth to bus bandwidth.
  double ring_ratio() const { return work_.ranks / static_cast<double>(steps()); }

  double bus() const {
    return topology_.channels * (work_.nodes <= 2 ? topology_.intra : topology_.inter);
  }

  /// On one node the GPU generation decides, between nodes the host CPU.
  double most_of_ll() const {
    const std::size_t row = work_.nodes == 1                       ? generation()
                            : topology_.host == HostProcessor::amd ? 1
                                                                   : 0;
    return ll_most[row][nodes_column_];
  }

  double ring_bandwidth(NcclProtocol protocol) const {
    double found = bus();
    if (protocol == NcclProtocol::ll) found = std::min(most_of_ll(), found * .5);
    if (protocol == NcclProtocol::ll128)
      found =
          std::min(found * .92, topology_.channels * ring_ll128_most[generation()][nodes_column_]);
    return found * ring_ratio();
  }

  double tree_bandwidth(NcclProtocol protocol) const {
    double found =
        std::min(bus() * .92, topology_.channels * tree_most[generation()][nodes_column_]);
    if (protocol == NcclProtocol::ll) found = std::min(found / 3.8, most_of_ll());
    if (protocol == NcclProtocol::ll128)
      found = std::min(found * (work_.nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                       topology_.channels * tree_ll128_most[generation()][nodes_column_]);
    // maxTreePattern: between nodes it is the plain tree, in one node a chain.
    if (work_.nodes > 1) found *= .85;
    return found * .5;
  }

  double ring_latency(NcclProtocol protocol) const {
    const std::size_t p = place(protocol);
    double intra = (topology_.has_nvlink ? ring_nvlink : ring_pci)[p];
    if (work_.kind == CollectiveKind::broadcast)
      return ring_base[p] + (work_.nodes > 1 ? ring_net[p] : intra);
    // With one rank on each node the whole latency shows: the tree's (ppn == 1).
    const double inter = ranks_per_node() == 1 ? tree_net[p] : ring_net[p];
    if (work_.nodes > 1) {
      const double overhead = topology_.host == HostProcessor::amd ? 2 : 1;
      intra = std::max(intra, protocol == NcclProtocol::simple ? overhead * 3 : overhead);
    }
    const int rounds = work_.kind == CollectiveKind::all_reduce ? 2 : 1;
    const int between = rounds * (work_.nodes - 1);
    return ring_base[p] + (steps() - between) * intra + between * inter;
  }

  const CollectiveWork& work_;
  const NcclTopology& topology_;
  std::size_t nodes_column_;
};

constexpr std::string_view kind_names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                           "broadcast",  "all_to_all", "send_receive"};
constexpr NcclProtocol protocols[] = {NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

}  // namespace

std::string_view name(CollectiveKind kind) { return kind_names[place(kind)]; }

std::optional<CollectiveKind> collective_called(std::string_view name) {
  const auto* found = std::ranges::find(kind_names, name);
  if (found == std::end(kind_names)) return std::nullopt;
  return static_cast<CollectiveKind>(found - kind_names);
}

std::string_view name(NcclAlgorithm algorithm) {
  constexpr std::string_view names[] = {"Tree", "Ring", "NVLS", "NVLSTree", "direct"};
  return names[place(algorithm)];
}

std::string_view name(NcclProtocol protocol) {
  constexpr std::string_view names[] = {"LL", "LL128", "Simple"};
  return names[place(protocol)];
}

NcclGeneration generation_of(int compute_major) {
  if (compute_major >= 10) return NcclGeneration::blackwell;
  if (compute_major == 9) return NcclGeneration::hopper;
  return compute_major == 8 ? NcclGeneration::ampere : NcclGeneration::volta;
}

std::vector<NcclWay> nccl_ways(const CollectiveWork& work, const NcclTopology& topology) {
  const Tuner tuner(work, topology);
  if (work.kind == CollectiveKind::all_to_all || work.kind == CollectiveKind::send_receive)
    return {tuner.direct()};
  std::vector<NcclWay> ways;
  ways.reserve(7);
  for (const NcclProtocol protocol : protocols) {
    if (protocol == NcclProtocol::ll128 && !topology.has_ll128) continue;
    ways.push_back(tuner.ring(protocol));
    if (work.kind == CollectiveKind::all_reduce) ways.push_back(tuner.tree(protocol));
  }
  if (work.kind != CollectiveKind::broadcast && tuner.has_nvls()) ways.push_back(tuner.nvls());
  return ways;
}

double way_us(const NcclWay& way, const CollectiveWork& work, const NcclTopology& topology) {
  double bandwidth = way.bandwidth_gb, latency = way.latency_us;
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(work.bytes, 0)) >> 6;
  if (way.algorithm == NcclAlgorithm::tree && units > 0) {
    const std::size_t logarithm = static_cast<std::size_t>(std::bit_width(units)) - 1;
    if (logarithm < 23) bandwidth *= tree_correction[place(way.protocol)][logarithm];
  }
  // "Plateau effect of ring".
  const bool is_ring_between_nodes = way.algorithm == NcclAlgorithm::ring &&
                                     way.protocol == NcclProtocol::simple && work.nodes > 1;
  if (is_ring_between_nodes && work.kind == CollectiveKind::all_reduce &&
      work.bytes / (std::int64_t{topology.channels} * work.ranks) >= 64)
    latency *= topology.generation == NcclGeneration::volta ? 1.9 : 1.4;
  return latency + static_cast<double>(work.bytes) / (1000 * bandwidth);
}

NcclChoice nccl_choice(const CollectiveWork& work, const NcclTopology& topology) {
  NcclChoice best;
  if (work.ranks <= 1) return best;
  best.us = std::numeric_limits<double>::infinity();
  for (const NcclWay& way : nccl_ways(work, topology))
    if (const double us = way_us(way, work, topology); us < best.us) best = {way, us};
  return best;
}

}  // namespace symprof::profile
