#include "trace/onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace symprof::trace {

MappedFile::MappedFile(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || ::fstat(file, &status) != 0) {
    const int reason = errno;
    if (file >= 0) ::close(file);
    throw Error(path, std::string("cannot be read: ") + std::strerror(reason),
                "Give the path of a model file.");
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    throw Error(path, "not a file", "Give the path of a model file.");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (data_ == MAP_FAILED) throw Error(path, "cannot be mapped into memory");
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(data_, size_);
}

}  // namespace symprof::trace
