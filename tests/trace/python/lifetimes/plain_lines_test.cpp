#include "trace/python/lifetimes/plain_lines.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/python_function.h"

namespace symprof::plain_lines_test {
namespace {

constexpr PythonBlock loop{.line = 3, .is_loop = true};
constexpr PythonBlock condition{.line = 6, .is_loop = false};

///      1  first(x)
///      2  kept = x
///      3  for …:
///      4    xs = []
///      5    call(x)
///      6    if …:
///      7      y = x
///      8      branch(y)
///      9    del y
///     10  last(x)
struct Loop : test::Function {
  Loop() {
    line("first(x)");
    line("kept = x");
    line("for …:");
    line("xs = []");
    line("call(x)");
    line("if …:");
    line("y = x");
    line("branch(y)");
    line("del y");
    line("last(x)");
    for (const std::size_t i : {3, 4, 5, 6, 7, 8}) graph.source_lines[i].blocks = {loop};
    for (const std::size_t i : {6, 7}) graph.source_lines[i].blocks.push_back(condition);
  }

  /// What ran between lines with these numbers.
  std::vector<std::string> between(std::size_t from, std::size_t to) const {
    const trace::PlainLines lines(graph);
    std::vector<std::string> texts;
    for (const SourceId id :
         lines.between(graph.source_lines[from - 1], graph.source_lines[to - 1]))
      texts.push_back(graph.source_lines[static_cast<std::size_t>(id)].text);
    return texts;
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("plain_lines") {
  TEST_CASE("lines without nodes ran between lines with nodes") {
    const Loop f;
    CHECK(f.between(1, 10) == Texts{"kept = x"});  // Nothing says that the loop ran.
    CHECK(f.between(1, 5) == Texts{"kept = x", "xs = []"});
    CHECK(f.between(5, 10) == Texts{"del y"});
    CHECK(f.between(5, 8) == Texts{"y = x"});
    CHECK(f.between(8, 10) == Texts{"del y"});
  }

  TEST_CASE("a line that is not further down belongs to the loop's next iteration") {
    const Loop f;
    CHECK(f.between(5, 5) == Texts{"del y", "xs = []"});
    CHECK(f.between(8, 5) == Texts{"del y", "xs = []"});
    CHECK(f.between(8, 8) == Texts{"del y", "xs = []", "y = x"});
    CHECK(f.between(10, 1).empty());  // Of no loop.
  }
}

}  // namespace symprof::plain_lines_test
