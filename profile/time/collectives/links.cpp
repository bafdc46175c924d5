#include "profile/time/collectives/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace symprof::profile {
namespace {

using LinksDocument = nlohmann::json;

constexpr std::streamsize largest_links_file = 1 << 20;

class LinksReader {
 public:
  LinksReader(const LinksDocument& json, std::string path) : json_(json), path_(std::move(path)) {}

  Links read() const {
    if (!json_.is_object()) fail("links", "is no object");
    Links links;
    links.nvlink_generation = count("nvlink_generation", 0);
    links.pcie_generation = count("pcie_generation", 0);
    links.channels = count("channels", 1);
    links.channel_gb = number("channel_gb_per_second");
    links.nvls_channels = count("nvls_channels", 0);
    if (links.nvls_channels > 0) links.nvls_channel_gb = number("nvls_channel_gb_per_second");
    if (json_.contains("network_bytes_per_second"))
      links.network_bytes_per_second = number("network_bytes_per_second");
    if (json_.contains("half_width")) links.half_width = number("half_width");
    if (json_.contains("bare_half_width")) links.bare_half_width = number("bare_half_width");
    links.host = host();
    if (json_.contains("measured")) read_curves(json_["measured"], links);
    links.fitted_on = json_.value("fitted_on", "");
    links.source = json_.value("source", "");
    return links;
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(path_, fmt::format("'{}' {}", key, problem),
                "Compare with the files in devices/links/.");
  }

  double number(const std::string& key) const {
    const LinksDocument value = json_.value(key, LinksDocument());
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
      fail(key, fmt::format("is {}; wanted a number above 0", value.dump()));
    return value.get<double>();
  }

  int count(const std::string& key, int least) const {
    const LinksDocument value = json_.value(key, LinksDocument(least));
    if (!value.is_number_integer() || value.get<double>() < least || value.get<double>() > 1024)
      fail(key, fmt::format("is {}; wanted a whole number from {} to 1024", value.dump(), least));
    return value.get<int>();
  }

  HostProcessor host() const {
    const std::string text = json_.value("host", "intel");
    if (text != "intel" && text != "amd")
      fail("host", fmt::format("is '{}'; wanted intel or amd", text));
    return text == "amd" ? HostProcessor::amd : HostProcessor::intel;
  }

  /// [{"kind": "all_reduce", "ranks": 8, "nodes": 1, "points": [[20, 0.31], …]}, …]
  void read_curves(const LinksDocument& curves, Links& links) const {
    if (!curves.is_array()) fail("measured", "is no list");
    for (const LinksDocument& curve : curves) {
      const auto kind = collective_called(curve.value("kind", ""));
      const int ranks = curve.value("ranks", 0), nodes = curve.value("nodes", 1);
      if (!kind || ranks < 2 || nodes < 1 || !curve.contains("points"))
        fail("measured", "has an entry without kind, ranks or points");
      MeasuredCurve& points = links.measured[{*kind, nodes}][ranks];
      points.reserve(curve["points"].size());
      for (const LinksDocument& point : curve["points"])
        points.emplace_back(point.at(0).get<double>(), point.at(1).get<double>());
      if (points.empty() || !std::ranges::is_sorted(points))
        fail("measured", "has a curve whose sizes do not ascend");
    }
  }

  const LinksDocument& json_;
  std::string path_;
};

/// The curve at `size`, clamped at its ends.
double value_at(const MeasuredCurve& curve, double size) {
  if (size <= curve.front().first) return curve.front().second;
  if (size >= curve.back().first) return curve.back().second;
  const auto above = std::ranges::upper_bound(curve, size, {}, &std::pair<double, double>::first);
  const auto below = above - 1;
  const double share = (size - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

/// Interpolates between the measured numbers of ranks.
double value_at(const std::map<int, MeasuredCurve>& curves, int ranks, double size) {
  const auto above = curves.lower_bound(ranks);
  if (above == curves.end()) return value_at(curves.rbegin()->second, size);
  if (above->first == ranks || above == curves.begin()) return value_at(above->second, size);
  const auto below = std::prev(above);
  const double share = std::log2(static_cast<double>(ranks) / below->first) /
                       std::log2(static_cast<double>(above->first) / below->first);
  return (1 - share) * value_at(below->second, size) + share * value_at(above->second, size);
}

}  // namespace

Links load_links(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file)
    throw Error(path, "cannot be read", "A device's file names it as 'links': correct it.");
  if (file.tellg() > largest_links_file)
    throw Error(path, "is too large for the links of a device",
                "Those of devices/links/ have a few hundred numbers.");
  file.seekg(0);
  try {
    const LinksDocument json = LinksDocument::parse(file);
    return LinksReader(json, path).read();
  } catch (const LinksDocument::exception& error) {
    throw Error(path, fmt::format("is not well-formed ({})", error.what()),
                "Compare with the files in devices/links/.");
  }
}

NcclTopology CollectiveModel::topology(const CollectiveWork& work) const {
  NcclTopology found{.generation = generation_,
                     .has_nvlink = links_.nvlink_generation > 0,
                     .has_ll128 = links_.nvlink_generation > 0,
                     .host = links_.host,
                     .channels = links_.channels,
                     .intra = links_.channel_gb,
                     .inter = links_.channel_gb,
                     .nvls_channels = links_.nvls_channels,
                     .nvls_intra = links_.nvls_channel_gb};
  if (work.nodes <= 1) return found;
  if (!links_.network_bytes_per_second)
    throw Error("links", "the device's file does not say what network it has",
                "Give it as 'network_bytes_per_second' in a file of links "
                "(docs/reference/device_files.md).");
  // Each rank of a node has its own share of the network.
  const int ranks_per_node = std::max(work.ranks / work.nodes, 1);
  const double network_gb = *links_.network_bytes_per_second / 1e9 * ranks_per_node;
  found.inter = std::min(links_.channel_gb, network_gb / links_.channels);
  // NCCL's search finds one bandwidth for a ring across the network and inside a node.
  found.intra = found.inter;
  return found;
}

CollectiveTime CollectiveModel::time(const CollectiveWork& work) const {
  if (work.ranks <= 1) return {};
  const NcclChoice choice = nccl_choice(work, topology(work));
  CollectiveTime found{
      .us = choice.us, .algorithm = choice.way.algorithm, .protocol = choice.way.protocol};
  double half_width = links_.bare_half_width;
  const auto curves = links_.measured.find({work.kind, work.nodes});
  if (curves != links_.measured.end()) {
    const double size = std::log2(static_cast<double>(std::max<std::int64_t>(work.bytes, 1)));
    found.us *= std::exp(value_at(curves->second, work.ranks, size));
    found.basis = TimeBasis::calibrated;
    half_width = links_.half_width;
  }
  found.low_us = found.us * std::exp(-half_width);
  found.high_us = found.us * std::exp(half_width);
  return found;
}

CollectiveModel collective_model_of(const DeviceSpec& device) {
  if (device.links.empty())
    throw Error(device.name, "its file has no 'links', which times of collectives need",
                "Name a file of devices/links/ there (docs/reference/device_files.md).");
  return {load_links(device.links), device.compute_major};
}

}  // namespace symprof::profile
