// Reading a TorchScript archive without its weights.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace symprof::trace::torchscript {

/// The file as LibTorch's reader sees it; large records of tensor data come back as memory that was
/// never written, which costs neither time nor pages.
class WeightlessFile : public caffe2::serialize::ReadAdapterInterface {
 public:
  /// Records of fewer bytes are read.
  static constexpr std::size_t least_skipped = 65536;

  /// Throws c10::Error for a file that is no such archive.
  explicit WeightlessFile(const std::string& path);
  ~WeightlessFile() override;
  WeightlessFile(const WeightlessFile&) = delete;
  WeightlessFile& operator=(const WeightlessFile&) = delete;

  std::size_t size() const override { return size_; }
  std::size_t read(std::uint64_t position, void* buffer, std::size_t count,
                   const char* what) const override;
  std::size_t bytes_read() const { return bytes_read_; }

 private:
  int file_ = -1;
  std::size_t size_ = 0;
  std::map<std::uint64_t, std::uint64_t> skipped_;  // Begin and end of records.
  mutable std::size_t bytes_read_ = 0;
};

struct Archive {
  torch::jit::Module module;
  /// What torch.jit.trace was called with; empty for scripts.
  std::vector<c10::IValue> example_inputs;
  /// False when data of the code's constants is missing: then no tensor of the file may be read.
  bool constants_are_whole = false;
  std::size_t bytes_read = 0;
};

/// Throws Error with the reason when LibTorch refuses the file.
Archive read_archive(const std::string& path);

}  // namespace symprof::trace::torchscript
