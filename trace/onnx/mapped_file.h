// A file mapped for reading: untouched pages are never read.
#pragma once

#include <string>
#include <string_view>

namespace symprof::trace {

class MappedFile {
 public:
  /// Throws Error when `path` is no file or cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace symprof::trace
