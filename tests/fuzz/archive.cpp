// Any bytes as a zip archive: arrays of an .npz, and a model of which the weights go and come back;
// the mutator (archive_mutator.cpp) changes one of its records.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "target.h"
#include "trace/exported/archive.h"
#include "trace/numpy/array_archive.h"
#include "workbench/archives.h"
#include "workbench/storages.h"

namespace {

using namespace symprof;

constexpr std::int64_t most_elements = 1 << 16;

/// A name in the folder for temporary files; what is written there goes with the object.
class Written {
 public:
  explicit Written(const char* name)
      : path_(fmt::format("{}/symprof_fuzz_{}_{}", P_tmpdir, ::getpid(), name)) {}
  ~Written() { ::unlink(path_.c_str()); }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void read_as_arrays(const std::string& path) try {
  std::vector<std::pair<std::string, std::string>> files;
  const auto arrays = trace::numpy::read_arrays(path, most_elements);
  files.reserve(arrays.size());
  for (const auto& [name, array] : arrays)
    files.emplace_back(name, trace::numpy::array_bytes(array));
  trace::numpy::archive_bytes(files);
} catch (const Error&) {
}

std::int64_t elements_of(const std::map<std::string, workbench::Storage>& storages) {
  std::int64_t sum = 0;
  for (const auto& [record, storage] : storages)
    if (__builtin_add_overflow(sum, storage.elements, &sum)) return most_elements + 1;
  return sum;
}

/// Elements that an archive claims for a record; nothing of a record that says nothing of weights.
std::int64_t claimed_elements(const trace::exported::Archive& archive, std::size_t index) try {
  const std::string& name = archive.records()[index];
  const bool is_config = name.ends_with("_config.json");
  if (!is_config && name != "data.pkl") return 0;
  const trace::exported::Record record = archive.read_at(index);
  const std::string_view text(record.bytes.get(), record.size);
  return elements_of(is_config ? workbench::storages_of_config(text, name)
                               : workbench::storages_of_pickle(text, name));
} catch (const Error&) {
  return 0;
}

/// Whether what a file claims to hold is little enough to be made thousands of times.
bool is_small(const std::string& path) {
  const trace::exported::Archive archive(path);
  for (std::size_t i = 0; i < archive.records().size(); ++i)
    if (claimed_elements(archive, i) > most_elements) return false;
  return true;
}

void strip_and_fill(const std::string& path) try {
  const Written stripped("stripped"), filled("filled");
  workbench::strip_archive(path, stripped.path(), 16);
  if (is_small(stripped.path())) workbench::fill_archive(stripped.path(), filled.path(), 0);
} catch (const Error&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  read_as_arrays(file.path());
  strip_and_fill(file.path());
  return 0;
}
