#include "trace/python/source/python_file.h"
#include "tests/support/source_folder.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace symprof;

std::string read_example() {
  std::ifstream file(test::source_folder() + "/truth/python_lines/example.py");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_SUITE("python_file") {
  TEST_CASE("lines belong to the statements and functions that Python's own parser finds") {
    const trace::PythonFile file(read_example());
    std::ifstream truth(test::source_folder() + "/truth/python_lines/lines.json");
    int compared = 0;
    for (const nlohmann::json& row : nlohmann::json::parse(truth)) {
      const trace::PythonLine* line = file.at(row.at(0).get<std::int64_t>());
      CAPTURE(row.dump());
      REQUIRE(line != nullptr);
      CHECK(line->first == row.at(1).get<std::int64_t>());
      CHECK(line->function == row.at(2).get<std::string>());
      CHECK(line->gradients.has_value() == !row.at(3).is_null());
      if (line->gradients) CHECK(*line->gradients == row.at(3).get<bool>());
      CHECK(line->no_autocast == row.at(4).get<bool>());
      ++compared;
    }
    CHECK(compared > 50);
  }

  TEST_CASE("a statement over several lines is one line of text, without comments") {
    const trace::PythonFile file(
        "x = f(a,  # the first\n      b)\n\n# nothing\ny = '#' \\\n  + x\n");
    REQUIRE(file.at(2) != nullptr);
    CHECK(file.at(2)->text == "x = f(a,   b)");
    CHECK(file.at(3) == nullptr);
    REQUIRE(file.at(6) != nullptr);
    CHECK(file.at(6)->text == "y = '#'  + x");
    CHECK(file.at(7) == nullptr);
  }

  TEST_CASE("the body of a function on one line is that function's") {
    const trace::PythonFile file("def twice(x): return x * 2\n");
    REQUIRE(file.at(1) != nullptr);
    CHECK(file.at(1)->text == "return x * 2");
    CHECK(file.at(1)->function == "twice");
  }

  TEST_CASE("text that is not Python is skipped") {
    for (const std::string text :
         {"", "(", "'", "\"\"\"", ")\n)\n", "\\", "x = '\\", "def", "with "}) {
      CAPTURE(text);
      const trace::PythonFile file(text);
      CHECK(file.at(0) == nullptr);
      CHECK(file.at(100) == nullptr);
    }
  }

  TEST_CASE("lines that bind variables, with the loops and conditions around them") {
    const trace::PythonFile file(
        "def f(self, x):\n"
        "  kept = x\n"
        "  with torch.no_grad():\n"
        "    for y in x:\n"
        "      ys = []\n"
        "      if y: z = y\n"
        "      if y:\n"
        "        z = y\n"
        "  def g(x): w = x\n"
        "  return x\n"
        "def h(x):\n"
        "  v = x\n");
    std::vector<std::string> texts;
    for (const trace::PythonLine* line : file.plain_lines(*file.at(10)))
      texts.push_back(line->text);
    CHECK(texts == std::vector<std::string>{"kept = x", "ys = []", "z = y"});
    CHECK(file.at(2)->blocks.empty());
    CHECK(file.at(5)->blocks == std::vector<symprof::PythonBlock>{{4, true}});
    CHECK(file.at(8)->blocks == std::vector<symprof::PythonBlock>{{4, true}, {7, false}});
  }

  TEST_CASE("the line with which a function returns") {
    const trace::PythonFile file(
        "class A:\n"
        "  def f(self, x):\n"
        "    if x: return x\n"
        "    def g(y):\n"
        "      return y\n"
        "    x = g(x)\n"
        "    return x, 1\n"
        "  def f(self):\n"
        "    return 2\n"
        "def h(): pass\n");
    const auto returning = [&](std::int64_t line) {
      const trace::PythonLine* found = file.last_return(*file.at(line));
      return found == nullptr ? "" : found->text;
    };
    CHECK(returning(3) == "return x, 1");
    CHECK(returning(5) == "return y");
    CHECK(returning(6) == "return x, 1");
    CHECK(returning(9) == "return 2");
    CHECK(returning(10).empty());
    CHECK(returning(1).empty());
  }
}
