// The GPU that a profile is made for: its properties as PyTorch queries them, and its speed.
//
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/kernel_clocks.h"

namespace symprof {

/// Read from devices/<name>.json or a user's file. Bytes, bytes per second, FLOPs per second.
/// Values missing in a file are empty, never zero.
struct DeviceSpec {
  std::string name;         ///< "h200"
  std::string description;  ///< "NVIDIA H200 SXM 141 GB"
  std::string cuda_name;    ///< The driver's name: "NVIDIA H200". Empty: unknown.
  /// Times are a CPU's, which runs calls synchronously. Memory is still that of a GPU with these
  /// properties.
  bool is_cpu = false;
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  std::int64_t memory_bytes = 0;
  /// The part of `memory_bytes` that the driver uses for a process with PyTorch's kernels loaded:
  /// the CUDA context and library code, which nvidia-smi counts and allocators do not.
  std::optional<std::int64_t> context_bytes;
  std::int64_t cudnn_version = 92000;       ///< As from cudnnGetVersion().
  std::int64_t cuda_version = 13000;        ///< As from cudaRuntimeGetVersion().
  std::int64_t cublas_workspace_bytes = 0;  ///< Per handle and stream; see docs/design.md.
  std::int64_t shared_memory_per_block_optin_bytes = 0;
  /// True if workspaces of cuDNN's plans were observed on the device: for convolutions, which copy
  /// their operands, and for fused attention (profile/cost/scratch/cudnn_plans.h).
  bool cudnn_copies_operands = false;
  std::optional<double> memory_bytes_per_second;
  /// Dense peak rates by dtype name ("bfloat16", "tf32", "float32").
  std::vector<std::pair<std::string, double>> flops_per_second;
  std::optional<double> clock_hz;        ///< Boost clock of the multiprocessors.
  std::optional<std::int64_t> l2_bytes;  ///< The last cache before memory.
  std::string memory_type;               ///< "HBM" or "GDDR"; empty: unknown.
  std::optional<double> power_watts;     ///< Power limit of the board.
  /// Set by its owner: a lower power limit, and the highest clock that the driver may choose.
  std::optional<double> power_limit_watts, clock_limit_hz;
  std::optional<double> process_nm;       ///< Manufacturing process, for energy per operation.
  std::optional<double> launch_us;        ///< Device time of an empty kernel.
  std::optional<double> graph_launch_us;  ///< As launch_us, inside a CUDA graph.
  /// Gap between the end of a kernel and the begin of the next one, if that is already queued.
  /// Empty if kernel times include it.
  std::optional<double> kernel_gap_us;
  std::optional<double> host_call_us;    ///< Host time of an ATen call without its launches.
  std::optional<double> host_launch_us;  ///< Host time per kernel launch.
  /// Speed variation from minute to minute: the half width (natural logarithm) that contains nine
  /// of ten moments (measure/calibration.h). Set only if the kernel times are of this device.
  std::optional<double> speed_half_width;
  /// Per direction: to another device, and to the host.
  std::optional<double> nvlink_bytes_per_second, pcie_bytes_per_second;
  /// Path of the file with coefficients of kernel times (profile/time/kernel_times.h), which may be
  /// this device's own; empty: values of the data sheet are used.
  std::string kernel_times;
  /// Kernel clocks; a device without a file of its own has those of the H200
  /// (devices/clocks/h200.json). Null: unknown.
  std::shared_ptr<const KernelClocks> kernel_clocks;
  /// Path of the file with its links to other devices and to the network, as NCCL sees them
  /// (profile/time/collectives/links.h); empty: not known.
  std::string links;
  std::string source;  ///< The source of the figures.
};

/// Reads one device file. Throws Error with the file, the key and the expected value.
DeviceSpec load_device(const std::string& path);

/// A device file for load_device with the kernel times of `times` (an object with "classes",
/// profile/time/fit.h), regardless of `device.kernel_times`; empty: without them.
std::string to_json(const DeviceSpec& device, const std::string& times = {});

/// All shipped devices, sorted by name, from `folder`.
std::vector<DeviceSpec> shipped_devices(const std::string& folder);

/// `name_or_path` is a shipped name or a path that ends in .json. An unknown name is an Error that
/// suggests the nearest one.
DeviceSpec find_device(const std::string& name_or_path, const std::string& folder);

}  // namespace symprof
