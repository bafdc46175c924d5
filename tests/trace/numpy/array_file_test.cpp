#include "trace/numpy/array_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

namespace symprof::array_file_test {
namespace {

using trace::numpy::Array;
using trace::numpy::read_array;

constexpr std::int64_t most = 1000;

/// What numpy.save writes: the header is padded with blanks to a multiple of 64 bytes and ends a
/// line (numpy/lib/format.py).
std::string file_bytes(std::string header, const std::string& data, int major = 1, int minor = 0) {
  const std::size_t before = major == 1 ? 10 : 12;
  while ((before + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(major);
  bytes += static_cast<char>(minor);
  for (std::size_t i = 0; i < before - 8; ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& columns_first = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, columns_first,
                     shape);
}

class NumpyFile {
 public:
  explicit NumpyFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() / "symprof_array_file_test.npy") {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~NumpyFile() { std::filesystem::remove(path_); }
  NumpyFile(const NumpyFile&) = delete;
  NumpyFile& operator=(const NumpyFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Array read(const std::string& bytes) {
  const NumpyFile file(bytes);
  return read_array(file.path(), most);
}

std::string refusal(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    return error.problem();
  }
  return "";
}

}  // namespace

TEST_SUITE("array_file") {
  TEST_CASE("dtype, shape and data of both versions") {
    const std::string data(3 * 8, '\1');
    for (const int major : {1, 2}) {
      CAPTURE(major);
      const Array array = read(file_bytes(header_of("<i8", "(3,)"), data, major));
      CHECK((array.spec.dtype == DType::int64));
      CHECK(array.spec.sizes == std::vector<std::int64_t>{3});
      CHECK(array.data == std::vector<std::byte>(24, std::byte{1}));
    }
    const Array matrix = read(file_bytes(header_of("<f4", "(2, 3)"), std::string(24, '\0')));
    CHECK((matrix.spec.dtype == DType::float32));
    CHECK(matrix.spec.strides == std::vector<std::int64_t>{3, 1});
    const Array number = read(file_bytes(header_of("|b1", "()"), "\1"));
    CHECK((number.spec.dtype == DType::boolean));
    CHECK(number.spec.sizes.empty());
  }

  TEST_CASE("a vector has no order of rows and columns") {
    CHECK(read(file_bytes(header_of("|u1", "(2,)", "True"), "ab")).data.size() == 2);
  }

  TEST_CASE("columns that come first in the file come row by row") {
    const auto letters = [](const Array& array) {
      return std::string(reinterpret_cast<const char*>(array.data.data()), array.data.size());
    };
    // numpy.array([[b'a', b'b', b'c'], [b'd', b'e', b'f']], order='F')
    CHECK(letters(read(file_bytes(header_of("|u1", "(2, 3)", "True"), "adbecf"))) == "abcdef");
    // Element [i, j, k] of (2, 2, 2) is the letter 4i + 2j + k.
    CHECK(letters(read(file_bytes(header_of("|u1", "(2, 2, 2)", "True"), "aecgbfdh"))) ==
          "abcdefgh");
    const Array wide =
        read(file_bytes(header_of("<i2", "(2, 2)", "True"), std::string("\1\0\3\0\2\0\4\0", 8)));
    CHECK(letters(wide) == std::string("\1\0\2\0\3\0\4\0", 8));
    CHECK(read(file_bytes(header_of("|u1", "(0, 3)", "True"), "")).data.empty());
  }

  TEST_CASE("every other file is refused with what is wrong") {
    const std::string eight(8, '\0');
    CHECK(refusal("") == "is no .npy file");
    CHECK(refusal("80,60,40\n") == "is no .npy file");
    CHECK(refusal(file_bytes(header_of("<i8", "(1,)"), eight, 3)).find("version 3.0") == 4);
    CHECK(refusal(file_bytes(header_of(">i8", "(1,)"), eight)) == "has elements of type '>i8'");
    CHECK(refusal(file_bytes(header_of("<c8", "(1,)"), eight)) == "has elements of type '<c8'");
    CHECK(refusal(file_bytes(header_of("", "(1,)"), eight)) == "has elements of type ''");
    CHECK(refusal(file_bytes(header_of("<i8", "(2,)"), eight)) ==
          "has 8 bytes of data; int64[2] takes 16");
    CHECK(refusal(file_bytes(header_of("<i8", "(1,)"), eight + "x")) ==
          "has 9 bytes of data; int64[1] takes 8");
    CHECK(refusal(file_bytes(header_of("<i8", "(1001,)"), eight)) == "has more than 1000 elements");
    CHECK(refusal(file_bytes(header_of("<i8", "(4294967296, 4294967296, 4)"), eight)) ==
          "has more than 1000 elements");
    const std::string whole = file_bytes(header_of("<i8", "(1,)"), eight);
    CHECK(refusal(whole.substr(0, 40)) == "ends too early");
  }

  TEST_CASE("a header that numpy.save does not write") {
    const std::string eight(8, '\0');
    const std::string problem = "its header is not one that numpy.save writes";
    for (const std::string& header : {
             std::string("{}"),
             std::string("{'descr': '<i8'}"),
             std::string("{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}"),
             header_of("<i8", "(-1,)"),
             header_of("<i8", "(1"),
             header_of("<i8", "(99999999999999999999,)"),
             header_of("<i8", "(1,)", "0"),
             header_of("<i8", "(1,)") + " more",
             std::string("[('a', '<i8')]"),
         }) {
      CAPTURE(header);
      CHECK(refusal(file_bytes(header, eight)) == problem);
    }
  }

  TEST_CASE("what is no file") {
    CHECK_THROWS_WITH_AS(read_array("/nowhere/lengths.npy", most),
                         "/nowhere/lengths.npy: there is no such file\n  Name a .npy file.", Error);
    CHECK_THROWS_AS(read_array("/dev/zero", most), Error);
    CHECK_THROWS_AS(read_array(std::filesystem::temp_directory_path().string(), most), Error);
  }
}

}  // namespace symprof::array_file_test
