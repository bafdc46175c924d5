// The links of a device to its neighbors and to the network, and measured times of collectives
// relative to NCCL's model. A file of devices/links/.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/device_spec.h"
#include "profile/time/collectives/nccl.h"
#include "profile/time/time_model.h"

namespace symprof::profile {

/// Measured collectives of one kind in one group.
struct MeasuredCurve {
  /// Logarithm (base 2) of the size in bytes, ascending, and measured time divided by NCCL's
  /// formula (natural logarithm).
  std::vector<std::pair<double, double>> points;
  /// Of a 90 % interval (natural logarithm).
  double half_width = 0.5;
};
/// By number of ranks.
using MeasuredCurves = std::map<int, MeasuredCurve>;

struct Links {
  int nvlink_generation = 0;  ///< 0: none.
  int pcie_generation = 0;
  /// One device's share of the network, in one direction; empty: not given.
  std::optional<double> network_bytes_per_second;
  int channels = 1;
  double channel_gb = 0;  ///< GB/s of a channel within a node.
  int nvls_channels = 0;
  double nvls_channel_gb = 0;
  HostProcessor host = HostProcessor::intel;
  /// By kind and nodes.
  std::map<std::pair<CollectiveKind, int>, MeasuredCurves> measured;
  /// The curves come from other machines with the same kind of link.
  bool measured_elsewhere = false;
  /// Half width (natural logarithm) of a 90 % interval of the formula alone.
  double bare_half_width = 0.7;
  std::string fitted_on, source;
};

/// Throws Error that names the wrong key.
Links load_links(const std::string& path);

struct CollectiveTime {
  double us = 0, low_us = 0, high_us = 0;
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  /// `calibrated` if collectives of this kind and number of nodes were measured on this device;
  /// not if the curve is that of another kind or of another machine.
  TimeBasis basis = TimeBasis::data_sheet;
};

/// The collectives of one kind of device.
class CollectiveModel {
 public:
  CollectiveModel(Links links, int compute_major)
      : links_(std::move(links)), generation_(generation_of(compute_major)) {}

  /// Throws Error if the group spans nodes and the file has no network bandwidth.
  CollectiveTime time(const CollectiveWork& work) const;
  NcclTopology topology(const CollectiveWork& work) const;
  const Links& links() const { return links_; }

 private:
  Links links_;
  NcclGeneration generation_;
};

/// Throws Error that names the key `links` where the device's file has none.
CollectiveModel collective_model_of(const DeviceSpec& device);

}  // namespace symprof::profile
