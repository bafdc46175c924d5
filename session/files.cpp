#include "session/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

/// The file that a symbolic link points to, so that a write replaces that file and keeps the link.
std::string follow_links(fs::path file) {
  constexpr int most = 40;  // As Linux allows.
  std::error_code error;
  for (int i = 0; i < most && fs::is_symlink(file, error); ++i)
    file = file.parent_path() / fs::read_symlink(file, error);
  return file.string();
}

/// A folder that takes the wanted name once all is in it.
class NewFolder {
 public:
  explicit NewFolder(const std::string& wanted) : wanted_(wanted), temporary_(wanted + ".XXXXXX") {
    std::error_code error;
    if (fs::exists(wanted, error))
      throw Error(wanted, "is there already.", "Name a folder that is not there.");
    if (mkdtemp(temporary_.data()) == nullptr) refuse("cannot be made.");
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  std::string file(const std::string& name) const { return (fs::path(temporary_) / name).string(); }

  void keep() {
    std::error_code error;
    fs::permissions(temporary_, fs::perms(0755), error);
    fs::rename(temporary_, wanted_, error);
    if (error) refuse("cannot be made: " + error.message());
    temporary_.clear();
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(wanted_, problem, fmt::format("Give another folder with {}.", setting("output")));
  }

  std::string wanted_, temporary_;
};

}  // namespace

void write_file(const std::string& path, std::string_view text) {
  const std::string file = follow_links(path);
  std::error_code error;
  if (fs::exists(file, error) && !fs::is_regular_file(file, error))
    return write_directly(file, text);
  if (const std::error_code reason = write_whole_file(file, text))
    cannot_write(file, reason.value());
}

void write_files(const std::string& path,
                 const std::vector<std::pair<std::string, std::string>>& files) {
  if (files.size() == 1 && files.front().first.empty())
    return write_file(path, files.front().second);
  NewFolder folder(path);
  for (const auto& [name, bytes] : files) write_file(folder.file(name), bytes);
  folder.keep();
}

}  // namespace symprof
