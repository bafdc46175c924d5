#include "trace/numpy/array_archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <memory>

#include "base/error.h"
#include "base/whole_file.h"

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

[[noreturn]] void fail_zip(const char* reason) {
  throw Error("npz", fmt::format("cannot be made: {}", reason), "Ask for safetensors.");
}

/// The bytes that libzip has written into a source in memory.
std::string bytes_of_source(zip_source_t* source) {
  std::string bytes;
  char buffer[65536];
  if (zip_source_open(source) != 0) fail_zip(zip_error_strerror(zip_source_error(source)));
  for (zip_int64_t got = 1; got > 0;) {
    got = zip_source_read(source, buffer, sizeof buffer);
    if (got > 0) bytes.append(buffer, static_cast<std::size_t>(got));
  }
  zip_source_close(source);
  return bytes;
}

/// The archive reads `file` when it is closed.
void add_file(zip_t* archive, const std::string& name, const std::string& file) {
  zip_source_t* source = zip_source_buffer(archive, file.data(), file.size(), 0);
  const zip_int64_t index =
      source ? zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
  if (index < 0) {
    zip_source_free(source);
    fail_zip(zip_strerror(archive));
  }
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  // The first day of the format, as numpy.savez: the same bytes each time.
  zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, 0x21, 0);
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

std::string archive_bytes(const std::vector<std::pair<std::string, std::string>>& files) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (target == nullptr) fail_zip(zip_error_strerror(&error));
  std::unique_ptr<zip_t, Discard> archive(
      zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) fail_zip(zip_error_strerror(&error));
  zip_source_keep(target);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> held(target, zip_source_free);
  for (const auto& [name, file] : files) add_file(archive.get(), name + std::string(ending), file);
  if (zip_close(archive.get()) != 0) fail_zip(zip_strerror(archive.get()));
  static_cast<void>(archive.release());  // zip_close has freed it.
  return bytes_of_source(held.get());
}

void write_arrays(const std::map<std::string, Array>& arrays, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [name, array] : arrays) {
    files.emplace_back(name, array_bytes(array));
    if (files.back().second.empty())
      throw Error(path, fmt::format("numpy has no dtype {}, that of '{}'",
                                    symprof::name(array.spec.dtype), name));
  }
  if (write_whole_file(path, archive_bytes(files)))
    throw Error(path, "cannot be written", "Name a file in a folder that you may write to.");
}

}  // namespace symprof::trace::numpy
