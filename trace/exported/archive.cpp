#include "trace/exported/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include "base/error.h"

namespace symprof::trace::exported {
namespace {

/// Advice for the archive at `where`, which begins with its path: .pt2 or TorchScript.
std::string copy_again(std::string_view where) {
  const bool is_exported = where.find(".pt2") != std::string_view::npos;
  return fmt::format(
      "The archive is truncated or damaged: copy it again, or write it again with {}.",
      is_exported ? "torch.export.save" : "torch.jit.save");
}

/// At least simdjson's SIMDJSON_PADDING, which reader.cpp asserts.
constexpr std::size_t padding = Record::padding;

/// Deflate cannot pack more than 1032 bytes into one (zlib's technical notes): a header that claims
/// more is not worth an allocation.
constexpr std::uint64_t deflate_limit = 1032;

/// Enough for some hundred thousand nodes with their metadata.
constexpr std::uint64_t most_record_bytes = std::uint64_t{1} << 28;

zip* open(const std::string& path) {
  int code = 0;
  zip* archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw Error(path, fmt::format("cannot be opened as a zip archive ({})", reason),
              copy_again(path));
}

std::string checksum_or_reason(zip_file_t* file) {
  zip_error_t* error = zip_file_get_error(file);
  if (zip_error_code_zip(error) == ZIP_ER_CRC) return "does not agree with its checksum";
  return fmt::format("cannot be unpacked ({})", zip_error_strerror(error));
}

/// "vit/models/model.json" → "models/model.json": PyTorch stores all records in one folder.
std::string without_root(std::string_view name) {
  const std::size_t slash = name.find('/');
  return std::string(slash == std::string_view::npos ? name : name.substr(slash + 1));
}

/// Guards against zip bombs: compressed bytes may claim any unpacked size.
void check_packing(const std::string& where, const zip_stat_t& status) {
  if (status.size / deflate_limit > status.comp_size)
    throw Error(where, fmt::format("claims {} bytes from {}", status.size, status.comp_size),
                copy_again(where));
}

zip_stat_t status_of(zip* archive, std::size_t index, const std::string& where) {
  zip_stat_t status;
  if (zip_stat_index(archive, index, 0, &status) != 0)
    throw Error(where, zip_strerror(archive), copy_again(where));
  return status;
}

}  // namespace

void Archive::Close::operator()(zip* archive) const { zip_discard(archive); }

Archive::Archive(std::string path) : path_(std::move(path)), archive_(open(path_)) {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  records_.reserve(static_cast<std::size_t>(count));
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(i), 0);
    records_.push_back(name ? without_root(name) : std::string{});
  }
  for (std::size_t i = 0; i < records_.size(); ++i) index_.emplace(records_[i], i);
}

std::optional<std::size_t> Archive::index_of(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int64_t> Archive::size_of(std::string_view name) const {
  const auto index = index_of(name);
  if (!index) return std::nullopt;
  return size_at(*index);
}

std::int64_t Archive::size_at(std::size_t index) const {
  return static_cast<std::int64_t>(status_of(archive_.get(), index, path_).size);
}

std::int64_t Archive::packed_size_at(std::size_t index) const {
  const zip_stat_t status = status_of(archive_.get(), index, path_);
  check_packing(fmt::format("{}: {}", path_, records_[index]), status);
  return static_cast<std::int64_t>(status.comp_size);
}

Record Archive::read(std::string_view name) const {
  const auto index = index_of(name);
  if (!index) throw Error(path_, fmt::format("the record {} is missing", name), copy_again(path_));
  return read_at(*index);
}

Record Archive::read_at(std::size_t index) const {
  const std::string where = fmt::format("{}: {}", path_, records_[index]);
  const zip_stat_t status = status_of(archive_.get(), index, where);
  check_packing(where, status);
  if (status.size > most_record_bytes)
    throw Error(where,
                fmt::format("unpacks to {} bytes; at most {} MiB are read", status.size,
                            most_record_bytes >> 20),
                "Export the part of the model that matters.");
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(
      zip_fopen_index(archive_.get(), index, 0), &zip_fclose);
  if (!file) throw Error(where, zip_strerror(archive_.get()), copy_again(where));
  Record record{std::make_unique_for_overwrite<char[]>(status.size + padding), status.size};
  std::fill_n(record.bytes.get() + status.size, padding, '\0');
  const zip_int64_t got = zip_fread(file.get(), record.bytes.get(), status.size);
  // libzip verifies the checksum on a read past the end.
  char beyond = 0;
  const bool complete = static_cast<zip_uint64_t>(got) == status.size;
  const zip_int64_t more = complete ? zip_fread(file.get(), &beyond, 1) : got;
  if (more < 0) throw Error(where, checksum_or_reason(file.get()), copy_again(where));
  if (!complete || more > 0)
    throw Error(where, fmt::format("{} bytes where {} were expected", got, status.size),
                copy_again(where));
  return record;
}

}  // namespace symprof::trace::exported
