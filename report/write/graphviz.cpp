#include "report/write/graphviz.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

namespace symprof::report {
namespace {

/// A file that the destructor removes.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text) {
    path_ = (std::filesystem::temp_directory_path() / "symprof.XXXXXX").string();
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw Error(path_, "cannot be written.");
    close(descriptor);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

fmt::memory_buffer svg_of(std::string_view drawing) {
  const TemporaryFile file(drawing);
  const std::string command = "exec dot -Tsvg '" + file.path() + "' 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "re");
  if (!pipe) throw Error("dot", "cannot be started.");
  fmt::memory_buffer out;
  char part[65536];
  for (std::size_t count; (count = std::fread(part, 1, sizeof part, pipe)) > 0;)
    out.append(part, part + count);
  const int status = pclose(pipe);
  if (status != 0)
    throw Error("dot", "graphviz did not lay out the drawing, or is not installed.",
                "Install graphviz, or write a page for a browser: that needs nothing else.",
                ErrorKind::not_available);
  return out;
}

}  // namespace symprof::report
