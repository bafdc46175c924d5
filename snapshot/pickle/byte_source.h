// The bytes of a file, plain or gzip, one piece after the other: a large file is never in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::snapshot::pickle {

class ByteSource {
 public:
  /// Throws Error where the file cannot be opened.
  explicit ByteSource(const std::string& path);
  /// Bytes that are in memory already; `name` is for messages.
  ByteSource(std::string_view bytes, std::string name);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The next `count` bytes, at most `piece_bytes`. Throws Error where the file ends before.
  const unsigned char* take(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) refill(count);
    const unsigned char* taken = at_;
    at_ += count;
    return taken;
  }
  /// The next `count` bytes, which may be more than a piece.
  void take(std::string& into, std::uint64_t count);

  const std::string& name() const { return name_; }
  /// Bytes taken so far, of the unpacked file.
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(at_ - begin_); }
  /// Throws Error that gives the position of the last byte read, and the problem.
  [[noreturn]] void fail(const std::string& problem) const;

  static constexpr std::size_t piece_bytes = std::size_t{1} << 18;

 private:
  struct File;
  void refill(std::size_t wanted);
  /// Reads as many bytes as fit behind the unread ones; returns their number.
  std::size_t read_piece(unsigned char* into, std::size_t room);

  std::string name_;
  std::unique_ptr<File> file_;  // None where all bytes are in memory.
  std::vector<unsigned char> buffer_;
  const unsigned char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  std::uint64_t before_ = 0;  // Bytes before `begin_`.
};

}  // namespace symprof::snapshot::pickle
