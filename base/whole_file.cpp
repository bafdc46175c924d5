#include "base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace symprof {
namespace {

/// mkstemp creates files that only their owner may read; results get the usual permissions.
mode_t usual_permissions() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// Removes the temporary file, so that no partial file remains.
std::error_code give_up(int descriptor, const std::string& temporary) {
  const std::error_code reason(errno, std::generic_category());
  if (descriptor >= 0) close(descriptor);
  unlink(temporary.c_str());
  return reason;
}

}  // namespace

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::error_code write_whole_file(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return {errno, std::generic_category()};
  if (!write_all(descriptor, text) || fchmod(descriptor, usual_permissions()) != 0)
    return give_up(descriptor, temporary);
  if (close(descriptor) != 0 || rename(temporary.c_str(), path.c_str()) != 0)
    return give_up(-1, temporary);
  return {};
}

}  // namespace symprof
