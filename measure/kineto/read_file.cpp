#include "measure/kineto/read_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/error.h"

namespace symprof::measure::kineto {
namespace {

struct Closer {
  void operator()(gzFile file) const { gzclose(file); }
};

constexpr auto record_again = "Copy the trace again, or record it again.";
/// Some tens of millions of events.
constexpr std::size_t most_bytes = std::size_t{4} << 30;

[[noreturn]] void fail(const std::string& path, gzFile file, std::size_t unpacked) {
  int code = Z_OK;
  const char* reason = gzerror(file, &code);
  throw Error(
      path,
      fmt::format("its packed data ends or is damaged at byte {} ({}), after {} bytes of "
                  "text.",
                  gzoffset(file), code == Z_ERRNO ? std::strerror(errno) : reason, unpacked),
      record_again);
}

}  // namespace

// gzread passes through files that are not compressed.
simdjson::padded_string read_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    throw Error(path, "is a folder.", "Name the file of a trace.");
  errno = 0;
  const std::unique_ptr<gzFile_s, Closer> file(gzopen(path.c_str(), "rb"));
  if (!file)
    throw Error(path, fmt::format("cannot be read: {}.", std::strerror(errno)),
                "Name the file that the profiler's export_chrome_trace wrote.");
  std::string text;
  constexpr unsigned piece = 1U << 20;
  for (;;) {
    const std::size_t before = text.size();
    if (before > most_bytes)
      throw Error(path, fmt::format("has more than {} bytes of text.", most_bytes),
                  "Record fewer steps.");
    text.resize(before + piece);
    const int count = gzread(file.get(), text.data() + before, piece);
    text.resize(before + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count < 0) fail(path, file.get(), before);
    if (count == 0) break;
  }
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code != Z_OK)
    fail(path, file.get(), text.size());  // Truncated: the data before the end was valid.
  return simdjson::padded_string(text);
}

}  // namespace symprof::measure::kineto
