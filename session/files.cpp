#include "session/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/setting.h"
#include "base/whole_file.h"

namespace symprof {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& file, int reason) {
  throw Error(file, fmt::format("cannot be written: {}.", std::strerror(reason)),
              fmt::format("Give another file with {}.", setting("output")));
}

/// For devices and pipes, into whose place no file can be renamed.
void write_directly(const std::string& file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(file, errno);
  const bool complete = write_all(descriptor, text);
  if (close(descriptor) != 0 || !complete) cannot_write(file, errno);
}

/// A link keeps pointing where it points: what is there is replaced.
std::string follow_links(fs::path file) {
  constexpr int most = 40;  // As Linux allows.
  std::error_code error;
  for (int i = 0; i < most && fs::is_symlink(file, error); ++i)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  const std::string file = follow_links(path);
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    return write_directly(file, text);
  if (const std::error_code reason = write_whole_file(file, text))
    cannot_write(file, reason.value());
}

}  // namespace symprof
