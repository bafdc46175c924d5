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
  std::optional<double> memory_bytes_per_second;
  /// Dense peak rates by dtype name ("bfloat16", "tf32", "float32").
  std::vector<std::pair<std::string, double>> flops_per_second;
  std::string source;  ///< Where the figures come from.
};

/// Reads one device file. Throws Error with the file, the key and what was wanted.
DeviceSpec load_device(const std::string& path);

/// All shipped devices, sorted by name, from `folder`.
std::vector<DeviceSpec> shipped_devices(const std::string& folder);

/// `name_or_path` is a shipped name or a path that ends in .json. An unknown name is an Error that
/// suggests the nearest one.
DeviceSpec find_device(const std::string& name_or_path, const std::string& folder);

}  // namespace symprof
