// The zip archive of a .pt2 file, read by record, on demand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct zip;

namespace symprof::trace::exported {

/// The bytes of one record, with padding for a vectorized parser.
struct Record {
  static constexpr std::size_t padding = 64;
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
};

class Archive {
 public:
  /// Throws Error if the file is missing, not a zip archive or truncated.
  explicit Archive(std::string path);

  const std::string& path() const { return path_; }
  /// Record names without the archive's own folder, which PyTorch names after the file.
  const std::vector<std::string>& records() const { return records_; }
  bool contains(std::string_view name) const { return index_of(name).has_value(); }
  /// Uncompressed bytes; empty if there is no such record.
  std::optional<std::int64_t> size_of(std::string_view name) const;
  /// Throws Error if the record is missing, its checksum is wrong, or it unpacks to more than 256
  /// MiB, the limit for a graph.
  Record read(std::string_view name) const;

  /// `size_of` and `read` by position in records(), for archives in which two records have one
  /// name.
  std::int64_t size_at(std::size_t index) const;
  /// Compressed bytes in the file. Throws Error if the claimed unpacked size exceeds deflate's
  /// maximal ratio.
  std::int64_t packed_size_at(std::size_t index) const;
  Record read_at(std::size_t index) const;

 private:
  struct Close {
    void operator()(zip* archive) const;
  };
  std::optional<std::size_t> index_of(std::string_view name) const;

  std::string path_;
  std::unique_ptr<zip, Close> archive_;
  std::vector<std::string> records_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace symprof::trace::exported
