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
    if (json_.contains("bare_half_width")) links.bare_half_width = number("bare_half_width");
    links.host = host();
    links.measured_elsewhere = json_.contains("measured_elsewhere");
    const char* key = links.measured_elsewhere ? "measured_elsewhere" : "measured";
    if (json_.contains(key)) read_curves(key, links);
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

  /// [{"kind": "all_reduce", "ranks": 8, "nodes": 1, "points": [[20, 0.31], …]}, …], each with a
  /// half width of its own or the file's.
  void read_curves(const char* key, Links& links) const {
    const double half_width =
        json_.contains("half_width") ? number("half_width") : MeasuredCurve{}.half_width;
    if (!json_[key].is_array()) fail(key, "is no list");
    for (const LinksDocument& curve : json_[key]) {
      const auto kind = collective_called(curve.value("kind", ""));
      const int ranks = curve.value("ranks", 0), nodes = curve.value("nodes", 1);
      if (!kind || ranks < 2 || nodes < 1 || !curve.contains("points"))
        fail(key, "has an entry without kind, ranks or points");
      MeasuredCurve& read = links.measured[{*kind, nodes}][ranks];
      read.half_width = curve.value("half_width", half_width);
      read.points.reserve(curve["points"].size());
      for (const LinksDocument& point : curve["points"])
        read.points.emplace_back(point.at(0).get<double>(), point.at(1).get<double>());
      if (read.points.empty() || !std::ranges::is_sorted(read.points))
        fail(key, "has a curve whose sizes do not ascend");
    }
  }

  const LinksDocument& json_;
  std::string path_;
};

/// Half width (natural logarithm) of a 90 % interval where an all-gather's curve stands for
/// another kind. Where both are known (docs/evaluation/collectives.md): 0.27 of all, 0.6 of
/// all-to-alls over PCIe.
constexpr double borrowed_half_width = 0.35;

struct CurveValue {
  double factor = 0, half_width = 0;  ///< Natural logarithms.
};

CurveValue mix(const CurveValue& below, const CurveValue& above, double share) {
  return {(1 - share) * below.factor + share * above.factor,
          std::max(below.half_width, above.half_width)};
}

/// The curve at `size`, clamped at its ends.
CurveValue value_at(const MeasuredCurve& curve, double size) {
  const auto& points = curve.points;
  if (size <= points.front().first) return {points.front().second, curve.half_width};
  if (size >= points.back().first) return {points.back().second, curve.half_width};
  const auto above = std::ranges::upper_bound(points, size, {}, &std::pair<double, double>::first);
  const auto below = above - 1;
  const double share = (size - below->first) / (above->first - below->first);
  return {below->second + share * (above->second - below->second), curve.half_width};
}

/// Interpolates between the measured numbers of ranks.
CurveValue value_at(const MeasuredCurves& curves, int ranks, double size) {
  const auto above = curves.lower_bound(ranks);
  if (above == curves.end()) return value_at(curves.rbegin()->second, size);
  if (above->first == ranks || above == curves.begin()) return value_at(above->second, size);
  const auto below = std::prev(above);
  const double share = std::log2(static_cast<double>(ranks) / below->first) /
                       std::log2(static_cast<double>(above->first) / below->first);
  return mix(value_at(below->second, size), value_at(above->second, size), share);
}

/// What was measured beside NCCL's formula, for this kind of collective or, where that is unknown,
/// for an all-gather: both move the same chunks over the same links.
std::optional<CurveValue> measured_factor(const Links& links, const CollectiveWork& work) {
  const double size = std::log2(static_cast<double>(std::max<std::int64_t>(work.bytes, 1)));
  if (const auto own = links.measured.find({work.kind, work.nodes}); own != links.measured.end())
    return value_at(own->second, work.ranks, size);
  const auto gathers = links.measured.find({CollectiveKind::all_gather, work.nodes});
  if (gathers == links.measured.end() || work.kind == CollectiveKind::send_receive)
    return std::nullopt;
  CurveValue found = value_at(gathers->second, work.ranks, size);
  found.half_width = std::hypot(found.half_width, borrowed_half_width);
  return found;
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
  if (const std::optional<CurveValue> measured = measured_factor(links_, work)) {
    found.us *= std::exp(measured->factor);
    half_width = measured->half_width;
    if (!links_.measured_elsewhere && links_.measured.contains({work.kind, work.nodes}))
      found.basis = TimeBasis::calibrated;
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
