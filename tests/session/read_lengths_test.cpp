#include "session/read_lengths.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/numpy/array_file.h"

namespace symprof::settings {
namespace {

/// A file that goes with the test.
class TestFile {
 public:
  TestFile(const std::string& name, std::string_view content)
      : path_((std::filesystem::temp_directory_path() / ("symprof_lengths_" + name)).string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

RunData read_text(const std::string& name, std::string_view content) {
  return read_lengths(TestFile(name, content).path());
}

using Lengths = std::vector<std::int64_t>;
using Shapes = std::vector<plan::Batch>;

}  // namespace

TEST_SUITE_BEGIN("read_lengths");

TEST_CASE("lengths, histograms and shapes mean the same in each format") {
  const Lengths lengths{12, 12, 40};
  const Shapes shapes{{8, 40, 320}, {4, 64, 256}};
  CHECK(read_text("a.csv", "length\n12\n12\r\n40\n").lengths == lengths);
  CHECK(read_text("b.csv", "length,count\n12,2\n40,1\n").lengths == lengths);
  CHECK(read_text("c.csv", "batch, length\n8,40\n4,64\n").shapes == shapes);
  CHECK(read_text("a.json", "[12, 12, 40]").lengths == lengths);
  CHECK(read_text("b.json", R"({"12": 2, "40": 1})").lengths == lengths);
  CHECK(read_text("c.json", "[[8, 40], [4, 64]]").shapes == shapes);
  const std::int32_t one[] = {12, 12, 40}, two[] = {8, 40, 4, 64};
  const auto bytes = [](const auto& numbers) {
    return std::string_view(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  };
  CHECK(read_text("a.npy", trace::numpy::file_bytes("<i4", {3}, bytes(one))).lengths == lengths);
  CHECK(read_text("c.npy", trace::numpy::file_bytes("<i4", {2, 2}, bytes(two))).shapes == shapes);
}

TEST_CASE("a stand-in is drawn") {
  const RunData data = read_lengths("lognormal:median=50,sigma=0.5,max=100,count=300");
  CHECK(data.lengths.size() == 300);
  CHECK(data.lengths ==
        plan::lognormal_lengths({.median = 50, .sigma = 0.5, .max = 100, .count = 300}));
}

TEST_CASE("what is no length is refused at its place") {
  CHECK_THROWS_WITH_AS(read_text("d.csv", "length\n12\n0\n"),
                       doctest::Contains("d.csv:3: 0 is no length"), Error);
  CHECK_THROWS_WITH_AS(read_text("e.csv", "12\n40\n"),
                       doctest::Contains("e.csv:1: the columns are '12'"), Error);
  CHECK_THROWS_WITH_AS(read_text("f.csv", "length,count\n12\n"), doctest::Contains("f.csv:2"),
                       Error);
  CHECK_THROWS_WITH_AS(read_text("g.json", "[1.5]"), doctest::Contains("no length"), Error);
  CHECK_THROWS_WITH_AS(read_text("h.json", "[]"), doctest::Contains("has no samples"), Error);
  CHECK_THROWS_WITH_AS(read_text("i.json", "{"), doctest::Contains("neither a list nor an object"),
                       Error);
  CHECK_THROWS_WITH_AS(read_text("j.txt", "12"), doctest::Contains("its ending"), Error);
  CHECK_THROWS_WITH_AS(read_lengths("lognormal:median=50"), doctest::Contains("is missing"), Error);
  CHECK_THROWS_WITH_AS(read_lengths("lognormal:mean=50"), doctest::Contains("'mean' is not known"),
                       Error);
}

TEST_SUITE_END();

}  // namespace symprof::settings
