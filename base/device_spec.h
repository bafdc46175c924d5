// The GPU that a profile is made for: what it answers when PyTorch asks, and how fast it is.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace symprof {

/// Read from devices/<name>.json or a file of the user's. Bytes, bytes per second, FLOPs per
/// second. What a file leaves out is empty, never zero.
struct DeviceSpec {
  std::string name;         ///< "h200"
  std::string description;  ///< "NVIDIA H200 SXM 141 GB"
  std::string cuda_name;    ///< As the driver calls it: "NVIDIA H200". Empty: not known.
  /// Its times are those of a CPU, which runs each call before it goes on to the next. Memory is
  /// all the same that of a GPU with these properties.
  bool is_cpu = false;
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  std::int64_t memory_bytes = 0;
  /// What the driver takes of `memory_bytes` for a process with PyTorch's kernels loaded: CUDA's
  /// context and the code of libraries, which nvidia-smi counts and no allocator does.
  std::optional<std::int64_t> context_bytes;
  std::int64_t cudnn_version = 92000;       ///< As cudnnGetVersion() gives it.
  std::int64_t cuda_version = 13000;        ///< As cudaRuntimeGetVersion() gives it.
  std::int64_t cublas_workspace_bytes = 0;  ///< Per handle and stream; see docs/design.md.
  std::int64_t shared_memory_per_block_optin_bytes = 0;
  /// Whether the workspaces of cuDNN's plans were seen there: those of convolutions, which copy
  /// their operands, and of fused attention (profile/cost/scratch/cudnn_plans.h).
  bool cudnn_copies_operands = false;
  std::optional<double> memory_bytes_per_second;
  /// Dense peak rates by dtype name ("bfloat16", "tf32", "float32").
  std::vector<std::pair<std::string, double>> flops_per_second;
  std::optional<double> clock_hz;         ///< Boost clock of the multiprocessors.
  std::optional<std::int64_t> l2_bytes;   ///< The last cache before memory.
  std::string memory_type;                ///< "HBM" or "GDDR"; empty: not said.
  std::optional<double> power_watts;      ///< The limit of the board.
  std::optional<double> launch_us;        ///< Time on the device of a kernel that does nothing.
  std::optional<double> graph_launch_us;  ///< The same inside a CUDA graph.
  /// Between the end of a kernel and the begin of the next one, though that was queued before.
  /// Empty where kernels were timed together with it.
  std::optional<double> kernel_gap_us;
  std::optional<double> host_call_us;  ///< Time of the host for an ATen call without its launches.
  std::optional<double> host_launch_us;  ///< And for each launch of a kernel.
  /// How much its speed changes from minute to minute: half width (natural logarithm) that nine of
  /// ten moments lie in (measure/calibration.h). Only where the kernel times are of this very
  /// device.
  std::optional<double> speed_half_width;
  /// In one direction: to another device, and to the host.
  std::optional<double> nvlink_bytes_per_second, pcie_bytes_per_second;
  /// Path of the file with the coefficients of kernel times (profile/time/kernel_times.h), which
  /// may be the device's own; empty: those of the data sheet serve.
  std::string kernel_times;
  /// Path of the file with its links to other devices and to the network, as NCCL sees them
  /// (profile/time/collectives/links.h); empty: not known.
  std::string links;
  std::string source;  ///< Where the figures come from.
};

/// Reads one device file. Throws Error with the file, the key and what was wanted.
DeviceSpec load_device(const std::string& path);

/// A device file that load_device reads, with the kernel times of `times` in it (an object with
/// "classes", profile/time/fit.h), whatever `device.kernel_times` names; empty: without.
std::string to_json(const DeviceSpec& device, const std::string& times = {});

/// All shipped devices, sorted by name, from `folder`.
std::vector<DeviceSpec> shipped_devices(const std::string& folder);

/// `name_or_path` is a shipped name or a path that ends in .json. An unknown name is an Error that
/// suggests the nearest one.
DeviceSpec find_device(const std::string& name_or_path, const std::string& folder);

}  // namespace symprof
