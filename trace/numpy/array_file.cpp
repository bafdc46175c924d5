#include "trace/numpy/array_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"

static_assert(std::endian::native == std::endian::little);

namespace symprof::trace::numpy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header = 4096;

/// numpy.dtype.str, without the mark of byte order.
constexpr std::pair<std::string_view, DType> dtypes[] = {
    {"b1", DType::boolean}, {"i1", DType::int8},    {"i2", DType::int16},   {"i4", DType::int32},
    {"i8", DType::int64},   {"u1", DType::uint8},   {"u2", DType::uint16},  {"u4", DType::uint32},
    {"u8", DType::uint64},  {"f2", DType::float16}, {"f4", DType::float32}, {"f8", DType::float64},
};

/// The header: a Python dictionary of three entries, "{'descr': '<i8', 'fortran_order': False,
/// 'shape': (3,), }".
class Header {
 public:
  Header(std::string_view text, const std::string& path) : rest_(text), path_(path) {
    expect("{");
    while (!take("}")) {
      const std::string_view key = word();
      expect(":");
      if (key == "descr" && !descr_)
        descr_ = word();
      else if (key == "fortran_order" && !columns_first_)
        columns_first_ = truth();
      else if (key == "shape" && !shape_)
        shape_ = tuple();
      else
        fail();
      if (!take(",")) {
        expect("}");
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty() || !descr_ || !columns_first_ || !shape_) fail();
  }

  std::string_view descr() const { return *descr_; }
  bool columns_first() const { return *columns_first_; }
  const std::vector<std::int64_t>& shape() const { return *shape_; }

 private:
  [[noreturn]] void fail() const {
    throw Error(path_, "its header is not one that numpy.save writes",
                "The file may be damaged: write it again with numpy.save.");
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail();
  }
  std::string_view word() {
    expect("'");
    const std::size_t end = rest_.find('\'');
    if (end == std::string_view::npos) fail();
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return word;
  }
  bool truth() {
    if (take("True")) return true;
    expect("False");
    return false;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect("(");
    while (!take(")")) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc{} || size < 0) fail();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      sizes.push_back(size);
      if (take(",")) continue;
      expect(")");
      break;
    }
    return sizes;
  }

  std::string_view rest_;
  const std::string& path_;
  std::optional<std::string_view> descr_;
  std::optional<bool> columns_first_;
  std::optional<std::vector<std::int64_t>> shape_;
};

/// The data of an array that has its columns first in memory: its first index runs fastest.
std::vector<std::byte> row_by_row(const Array& array) {
  const std::vector<std::int64_t>&sizes = array.spec.sizes, &strides = array.spec.strides;
  const std::int64_t width = element_bytes(array.spec.dtype);
  std::vector<std::byte> rows(array.data.size());
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (auto from = array.data.begin(); from != array.data.end(); from += width) {
    const std::int64_t at =
        std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
    std::copy_n(from, width, rows.begin() + at * width);
    for (std::size_t axis = 0; axis < sizes.size() && ++index[axis] == sizes[axis]; ++axis)
      index[axis] = 0;
  }
  return rows;
}

class Reader {
 public:
  /// `path` is for messages.
  Reader(std::istream& stream, std::uintmax_t bytes, const std::string& path)
      : path_(path), stream_(stream), bytes_left_(bytes) {}

  Array read(std::int64_t most_elements) {
    const std::string text = header_text();
    const Header header(text, path_);
    Array array{.spec = {.dtype = dtype_of(header.descr()), .sizes = header.shape()}};
    array.spec.strides = contiguous_strides(array.spec.sizes);
    array.data.resize(data_bytes(array.spec, most_elements));
    take(array.data.data(), array.data.size());
    if (header.columns_first() && header.shape().size() > 1) array.data = row_by_row(array);
    return array;
  }

 private:
  [[noreturn]] void fail(std::string problem, std::string advice) const {
    throw Error(path_, std::move(problem), std::move(advice));
  }
  [[noreturn]] void fail_damaged(std::string problem) const {
    fail(std::move(problem), "The file may be damaged: write it again with numpy.save.");
  }

  void take(void* into, std::size_t count) {
    if (count > bytes_left_) fail_damaged("ends too early");
    stream_.read(static_cast<char*>(into), static_cast<std::streamsize>(count));
    if (!stream_) fail_damaged("ends too early");
    bytes_left_ -= count;
  }

  std::string header_text() {
    char start[8] = {};
    if (bytes_left_ < sizeof start) fail("is no .npy file", "Write it with numpy.save.");
    take(start, sizeof start);
    if (std::string_view(start, magic.size()) != magic)
      fail("is no .npy file", "Write it with numpy.save.");
    const int major = static_cast<unsigned char>(start[6]);
    if ((major != 1 && major != 2) || start[7] != 0)
      fail(fmt::format("has version {}.{} of the format; 1.0 and 2.0 are read", major,
                       static_cast<int>(static_cast<unsigned char>(start[7]))),
           "Save an array of integers, floats or truth values, without fields.");
    std::uint32_t length = 0;
    take(&length, major == 1 ? 2 : 4);
    if (length > most_header) fail_damaged(fmt::format("has a header of {} bytes", length));
    std::string text(length, '\0');
    take(text.data(), text.size());
    return text;
  }

  DType dtype_of(std::string_view descr) const {
    const std::string_view kind = descr.substr(std::min<std::size_t>(1, descr.size()));
    const bool is_byte = kind.ends_with('1');
    for (const auto& [name, dtype] : dtypes)
      if (name == kind && (descr[0] == '<' || (is_byte && descr[0] == '|'))) return dtype;
    fail(fmt::format("has elements of type '{}'", descr),
         "Little-endian integers and floats and truth values are read: save "
         "array.astype('<i8').");
  }

  /// The header says how many bytes follow, and so does the file.
  std::size_t data_bytes(const TensorSpec& spec, std::int64_t most_elements) const {
    std::int64_t elements = 1;
    for (const std::int64_t size : spec.sizes)
      if (__builtin_mul_overflow(elements, size, &elements) || elements > most_elements)
        fail(fmt::format("has more than {} elements", most_elements),
             "Values are for small inputs, whose numbers decide sizes.");
    const auto bytes = static_cast<std::size_t>(elements * element_bytes(spec.dtype));
    if (bytes != bytes_left_)
      fail_damaged(
          fmt::format("has {} bytes of data; {} takes {}", bytes_left_, to_string(spec), bytes));
    return bytes;
  }

  const std::string& path_;
  std::istream& stream_;
  std::uintmax_t bytes_left_ = 0;
};

}  // namespace

Array read_array(const std::string& path, std::int64_t most_elements) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Error(path, "there is no such file", "Name a .npy file.");
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(path, "is no regular file", "Name a .npy file.");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) throw Error(path, "cannot be read", "Name a .npy file that you may read.");
  return Reader(stream, bytes, path).read(most_elements);
}

Array parse_array(const std::string& bytes, const std::string& path, std::int64_t most_elements) {
  std::istringstream stream(bytes);
  return Reader(stream, bytes.size(), path).read(most_elements);
}

std::string descr_of(DType dtype) {
  for (const auto& [name, known] : dtypes)
    if (known == dtype) return (name.ends_with('1') ? "|" : "<") + std::string(name);
  return {};
}

std::string file_bytes(std::string_view descr, const std::vector<std::int64_t>& sizes,
                       std::string_view data) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
  constexpr std::size_t alignment = 64, before = 10;  // Magic, version, length.
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes += data;
  return bytes;
}

std::string array_bytes(const Array& array) {
  const std::string descr = descr_of(array.spec.dtype);
  if (descr.empty()) return {};
  return file_bytes(descr, array.spec.sizes,
                    {reinterpret_cast<const char*>(array.data.data()), array.data.size()});
}

}  // namespace symprof::trace::numpy
