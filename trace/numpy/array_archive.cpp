#include "trace/numpy/array_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "base/error.h"

namespace symprof::trace::numpy {
namespace {

constexpr std::string_view ending = ".npy";

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};

[[noreturn]] void fail_archive(const std::string& path, const std::string& problem) {
  throw Error(path, problem, "Write it with numpy.savez.");
}

std::string entry_bytes(zip_t* archive, zip_uint64_t index, const std::string& path,
                        std::uint64_t most_bytes) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0) fail_archive(path, "has a broken entry");
  if (stat.size > most_bytes) fail_archive(path, fmt::format("'{}' is too large", stat.name));
  const std::unique_ptr<zip_file_t, CloseEntry> entry(zip_fopen_index(archive, index, 0));
  std::string bytes(stat.size, '\0');
  if (!entry ||
      zip_fread(entry.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    fail_archive(path, fmt::format("'{}' cannot be read", stat.name));
  return bytes;
}

}  // namespace

std::map<std::string, Array> read_arrays(const std::string& path, std::int64_t most_elements) {
  int code = 0;
  const std::unique_ptr<zip_t, Discard> archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) fail_archive(path, "is no .npz file");
  constexpr std::uint64_t header_bytes = 8192, widest_element = 16;
  std::map<std::string, Array> arrays;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* given = zip_get_name(archive.get(), index, 0);
    std::string name = given == nullptr ? "" : given;
    const std::string bytes =
        entry_bytes(archive.get(), index, path,
                    static_cast<std::uint64_t>(most_elements) * widest_element + header_bytes);
    Array array = parse_array(bytes, fmt::format("{}: {}", path, name), most_elements);
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    arrays[name] = std::move(array);
  }
  return arrays;
}

void write_arrays(const std::map<std::string, Array>& arrays, const std::string& path) {
  int code = 0;
  std::unique_ptr<zip_t, Discard> archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  const auto fail = [&] [[noreturn]] {
    throw Error(path, "cannot be written", "Name a file in a folder that you may write to.");
  };
  if (!archive) fail();
  std::map<std::string, std::string> bytes;  // The archive reads them when it is closed.
  for (const auto& [name, array] : arrays) {
    std::string& written = bytes[name] = array_bytes(array);
    if (written.empty())
      throw Error(path, fmt::format("numpy has no dtype {}, that of '{}'",
                                    symprof::name(array.spec.dtype), name));
    zip_source_t* source = zip_source_buffer(archive.get(), written.data(), written.size(), 0);
    const zip_int64_t index = zip_file_add(archive.get(), (name + std::string(ending)).c_str(),
                                           source, ZIP_FL_OVERWRITE | ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail();
    }
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) fail();
  static_cast<void>(archive.release());
}

}  // namespace symprof::trace::numpy
