// Reads a TorchScript archive without its weights.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/api/module.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace symprof::trace::torchscript {

/// The file as seen by LibTorch's reader; large tensor records are returned as untouched memory,
/// which costs neither time nor pages.
class WeightlessFile : public caffe2::serialize::ReadAdapterInterface {
 public:
  /// Smaller records are read.
  static constexpr std::size_t least_skipped = 65536;

  /// Throws c10::Error if the file is not such an archive.
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
  /// The example inputs of torch.jit.trace; empty for scripts.
  std::vector<c10::IValue> example_inputs;
  /// False if data of the code's constants is missing: then no tensor data may be read.
  bool constants_are_whole = false;
  std::size_t bytes_read = 0;
};

/// Throws Error with the reason when LibTorch refuses the file.
Archive read_archive(const std::string& path);

}  // namespace symprof::trace::torchscript
