// What the fuzz targets share: an input as a file, and what follows reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/graph/graph.h"

/// The entry point of every target, by libFuzzer's name for it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace symprof::fuzz {

/// A file in memory; it has a path, and is gone when the object is.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

/// Runs what `symprof profile` runs on a graph before it is run: the check, both training modes,
/// a cast, and sizes for all inputs. The only exception that may come out is Error.
void run_passes(const Graph& graph);

}  // namespace symprof::fuzz
