#include "snapshot/pickle/byte_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/error.h"

namespace symprof::snapshot::pickle {
namespace {

constexpr auto write_again =
    "Copy the file again, or write it again with torch.cuda.memory._dump_snapshot.";
/// The largest accepted size, enough for about fifty million events: a packed file may unpack to a
/// thousand times its size.
constexpr std::uint64_t most_bytes = std::uint64_t{8} << 30;

}  // namespace

struct ByteSource::File {
  explicit File(gzFile opened) : handle(opened) {}
  ~File() { gzclose(handle); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  gzFile handle;
};

ByteSource::ByteSource(const std::string& path) : name_(path) {
  constexpr auto wanted = "Name a file that torch.cuda.memory._dump_snapshot wrote.";
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw Error(path, "is a folder", wanted);
  errno = 0;
  const gzFile handle = gzopen(path.c_str(), "rb");  // gzopen also reads files that are not packed.
  if (!handle) throw Error(path, fmt::format("cannot be read: {}", std::strerror(errno)), wanted);
  file_ = std::make_unique<File>(handle);
  gzbuffer(handle, piece_bytes);
  buffer_.resize(2 * piece_bytes);
  begin_ = at_ = end_ = buffer_.data();
}

ByteSource::ByteSource(std::string_view bytes, std::string name) : name_(std::move(name)) {
  begin_ = at_ = reinterpret_cast<const unsigned char*>(bytes.data());
  end_ = begin_ + bytes.size();
}

ByteSource::~ByteSource() = default;

void ByteSource::fail(const std::string& problem) const {
  throw Error(name_, fmt::format("byte {}: {}", offset(), problem), write_again);
}

std::size_t ByteSource::read_piece(unsigned char* into, std::size_t room) {
  const int count = gzread(file_->handle, into, static_cast<unsigned>(room));
  int code = Z_OK;
  const char* reason = gzerror(file_->handle, &code);
  if (count < 0 || (count == 0 && code != Z_OK))
    fail(fmt::format("the packed data ends or is damaged ({})",
                     code == Z_ERRNO ? std::strerror(errno) : reason));
  return static_cast<std::size_t>(count);
}

void ByteSource::refill(std::size_t wanted) {
  std::size_t left = static_cast<std::size_t>(end_ - at_);
  if (file_) {
    before_ += static_cast<std::uint64_t>(at_ - begin_);
    std::memmove(buffer_.data(), at_, left);
    begin_ = at_ = end_ = buffer_.data();
    end_ += left;
    if (before_ > most_bytes)
      fail(fmt::format("the file is longer than {} bytes, which no snapshot is", most_bytes));
    while (left < wanted) {
      const std::size_t count = read_piece(buffer_.data() + left, buffer_.size() - left);
      if (count == 0) break;
      left += count;
      end_ += count;
    }
  }
  if (left < wanted) fail("the file ends in the middle of a value");
}

void ByteSource::take(std::string& into, std::uint64_t count) {
  while (count > 0) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, piece_bytes));
    into.append(reinterpret_cast<const char*>(take(part)), part);
    count -= part;
  }
}

}  // namespace symprof::snapshot::pickle
