#include "workbench/archives.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "base/error.h"
#include "trace/exported/archive.h"
#include "workbench/random.h"
#include "workbench/storages.h"

namespace symprof::workbench {
namespace {

using trace::exported::Archive;
using trace::exported::Record;

struct Discard {
  void operator()(zip* archive) const { zip_discard(archive); }
};
using ZipPointer = std::unique_ptr<zip, Discard>;

ZipPointer open_zip(const std::string& path, int flags) {
  int code = 0;
  ZipPointer archive(zip_open(path.c_str(), flags, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(path, fmt::format("cannot be opened as a zip archive ({})", reason));
}

/// Generates a record's random data while the archive is written: one record in memory at a time.
class Generator {
 public:
  Generator(Storage storage, std::uint64_t seed) : storage_(storage), seed_(seed) {}

  std::uint64_t size() const {
    return static_cast<std::uint64_t>(storage_.elements) *
           static_cast<std::uint64_t>(element_bytes(storage_.dtype));
  }

  zip_int64_t answer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_OPEN:
        return open();
      case ZIP_SOURCE_READ: {
        const std::size_t count = std::min<std::size_t>(length, bytes_.size() - at_);
        std::memcpy(data, bytes_.data() + at_, count);
        at_ += count;
        return static_cast<zip_int64_t>(count);
      }
      case ZIP_SOURCE_CLOSE:
        bytes_ = {};
        return 0;
      case ZIP_SOURCE_STAT: {
        auto* status = static_cast<zip_stat_t*>(data);
        zip_stat_init(status);
        status->size = size();
        status->valid = ZIP_STAT_SIZE;
        return sizeof *status;
      }
      case ZIP_SOURCE_ERROR: {
        zip_error_t error;
        zip_error_init(&error);
        zip_error_set(&error, ZIP_ER_MEMORY, 0);
        const zip_int64_t written = zip_error_to_data(&error, data, length);
        zip_error_fini(&error);
        return written;
      }
      case ZIP_SOURCE_FREE:
        return 0;
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
      default:
        return -1;
    }
  }

  static zip_int64_t call(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    return static_cast<Generator*>(self)->answer(data, length, command);
  }

 private:
  /// Exceptions must not pass through libzip.
  zip_int64_t open() try {
    bytes_ = storage_.is_variance ? normal_bytes(storage_.dtype, storage_.elements, seed_, 1, 0)
                                  : normal_bytes(storage_.dtype, storage_.elements, seed_);
    at_ = 0;
    return 0;
  } catch (const std::exception&) {
    return -1;
  }

  Storage storage_;
  std::uint64_t seed_;
  std::string bytes_;
  std::size_t at_ = 0;
};

/// An archive under construction: a file beside `to` until it is complete.
class ArchiveWriter {
 public:
  ArchiveWriter(const std::string& from, std::string to)
      : from_(from), to_(std::move(to)), source_(open_zip(from, ZIP_RDONLY)) {
    temporary_ = to_ + ".XXXXXX";
    const int descriptor = mkstemp(temporary_.data());
    if (descriptor < 0) fail(std::strerror(errno));
    fchmod_usual(descriptor);
    close(descriptor);
    out_ = open_zip(temporary_, ZIP_CREATE | ZIP_TRUNCATE);
  }
  ~ArchiveWriter() {
    out_.reset();
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  std::string name_at(std::size_t index) const {
    const char* name = zip_get_name(source_.get(), index, 0);
    return name ? name : "";
  }
  void copy(std::size_t index) {
    check(index);
    add(name_at(index), zip_source_zip(out_.get(), source_.get(), index, 0, 0, -1));
  }
  void add_empty(const std::string& name) { add(name, zip_source_buffer(out_.get(), "", 0, 0)); }
  void add_random(const std::string& name, const Storage& storage, std::uint64_t seed) {
    generators_.push_back(std::make_unique<Generator>(storage, seed));
    add(name, zip_source_function(out_.get(), &Generator::call, generators_.back().get()));
  }
  void finish() {
    if (zip_close(out_.get()) != 0) {
      if (zip_error_code_zip(zip_get_error(out_.get())) == ZIP_ER_MEMORY)
        throw Error(from_, "has a tensor that does not fit into memory",
                    "Fill it on a larger machine; if it is not so large, the file is damaged.");
      fail(zip_strerror(out_.get()));
    }
    static_cast<void>(out_.release());
    if (rename(temporary_.c_str(), to_.c_str()) != 0) fail(std::strerror(errno));
    temporary_.clear();
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw Error(to_, "cannot be written: " + reason, "Give another file.");
  }
  /// libzip copies records unchecked; reading a record to its end verifies its checksum.
  void check(std::size_t index) const {
    const auto damaged = [&](const char* reason) {
      throw Error(from_, fmt::format("its record {} is damaged ({})", name_at(index), reason),
                  "Download it or export the model again.");
    };
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> record(
        zip_fopen_index(source_.get(), index, 0), zip_fclose);
    if (!record) damaged(zip_strerror(source_.get()));
    constexpr std::size_t piece = 1 << 16;
    std::vector<char> bytes(piece);
    zip_int64_t got = 1;
    while (got > 0) got = zip_fread(record.get(), bytes.data(), bytes.size());
    if (got < 0) damaged(zip_file_strerror(record.get()));
  }
  /// mkstemp creates files that only the owner can read.
  static void fchmod_usual(int descriptor) {
    const mode_t mask = umask(0);
    umask(mask);
    static_cast<void>(fchmod(descriptor, 0666 & ~mask));
  }

  /// Records are stored uncompressed, because PyTorch maps tensors by their offset in the file.
  void add(const std::string& name, zip_source_t* source) {
    const zip_int64_t index =
        source ? zip_file_add(out_.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
      if (source) zip_source_free(source);
      fail(zip_strerror(out_.get()));
    }
    zip_set_file_compression(out_.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    // The earliest date of the format, for reproducible bytes.
    zip_file_set_dostime(out_.get(), static_cast<zip_uint64_t>(index), 0, 0x21, 0);
  }

  std::string from_, to_, temporary_;
  ZipPointer source_, out_;
  std::vector<std::unique_ptr<Generator>> generators_;
};

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char one) { return one >= '0' && one <= '9'; });
}

/// The storage's key if the record holds tensor data of TorchScript.
std::string script_key(const std::string& record) {
  constexpr std::string_view folder = "data/";
  if (!record.starts_with(folder) || !is_number(std::string_view(record).substr(folder.size())))
    return {};
  return record.substr(folder.size());
}

bool is_exported_weight(const std::string& record) {
  return record.starts_with("data/weights/weight_") || record.starts_with("data/constants/tensor_");
}

enum class ArchiveKind { exported, script };

ArchiveKind kind_of(const Archive& archive) {
  bool has_model = false;
  for (const std::string& record : archive.records())
    has_model |= record.starts_with("models/") && record.ends_with(".json");
  if (has_model) return ArchiveKind::exported;
  if (archive.contains("data.pkl") && archive.contains("constants.pkl")) return ArchiveKind::script;
  throw Error(archive.path(), "is no .pt2 of torch.export.save and no TorchScript",
              "Write it again with a PyTorch of 2.9 or later, or torch.jit.save.");
}

std::string_view text_of(const Record& record) { return {record.bytes.get(), record.size}; }

/// By record name: the storage that it must hold.
std::map<std::string, Storage> wanted_storages(const Archive& archive, ArchiveKind kind) {
  std::map<std::string, Storage> wanted;
  if (kind == ArchiveKind::script) {
    for (const auto& [key, storage] :
         storages_of_pickle(text_of(archive.read("data.pkl")), archive.path()))
      wanted["data/" + key] = storage;
    return wanted;
  }
  for (const std::string& record : archive.records()) {
    const bool is_weights = record.ends_with("_weights_config.json");
    if (!is_weights && !record.ends_with("_constants_config.json")) continue;
    const std::string folder = record.substr(0, record.rfind('/') + 1);
    for (const auto& [name, storage] :
         storages_of_config(text_of(archive.read(record)), archive.path()))
      wanted[folder + name] = storage;
  }
  return wanted;
}

/// The root folder of all records of the archive.
std::string root_of(const ArchiveWriter& writer) {
  const std::string first = writer.name_at(0);
  return first.substr(0, first.find('/') + 1);
}

}  // namespace

WeightsReport strip_archive(const std::string& from, const std::string& to, std::int64_t largest) {
  const Archive archive(from);
  const ArchiveKind kind = kind_of(archive);
  ArchiveWriter writer(from, to);
  WeightsReport report;
  for (std::size_t i = 0; i < archive.records().size(); ++i) {
    const std::string& record = archive.records()[i];
    const bool is_script = !script_key(record).empty() && kind == ArchiveKind::script;
    const bool is_weight =
        is_script || (kind == ArchiveKind::exported && is_exported_weight(record));
    const std::int64_t bytes = archive.size_at(i);
    if (!is_weight || bytes <= largest) {
      writer.copy(i);
      continue;
    }
    if (is_script) writer.add_empty(writer.name_at(i));
    ++report.tensors;
    report.bytes += bytes;
  }
  writer.finish();
  return report;
}

WeightsReport fill_archive(const std::string& from, const std::string& to, std::uint64_t seed) {
  const Archive archive(from);
  const auto wanted = wanted_storages(archive, kind_of(archive));
  ArchiveWriter writer(from, to);
  WeightsReport report;
  std::set<std::string> there;
  for (std::size_t i = 0; i < archive.records().size(); ++i) {
    const std::string& record = archive.records()[i];
    const auto storage = wanted.find(record);
    const bool lacks =
        storage != wanted.end() && storage->second.elements > 0 && archive.size_at(i) == 0;
    if (lacks) continue;
    there.insert(record);
    writer.copy(i);
  }
  const std::string root = root_of(writer);
  for (const auto& [record, storage] : wanted) {
    if (there.contains(record) || storage.elements == 0) continue;
    ++report.tensors;
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(storage.elements, element_bytes(storage.dtype), &bytes) ||
        __builtin_add_overflow(report.bytes, bytes, &report.bytes))
      throw Error(from, "its tensors have more bytes than 64 bits count",
                  "Download it or export the model again.");
    writer.add_random(root + record, storage, seed ^ hash_of(record));
  }
  writer.finish();
  return report;
}

}  // namespace symprof::workbench
