// The text of onnx-array-api, letter for letter.
#include <doctest/doctest.h>

#include "report/onnx/pretty.h"
#include "tests/support/workbench_files.h"

namespace symprof::pretty_test {
namespace {

std::string pretty(const std::string& name) {
  const auto path = test::workbench_file("models/" + name + ".onnx");
  fmt::memory_buffer out;
  report::write_pretty(out, *workbench::read_model(path, workbench::Weights::small));
  return fmt::to_string(out);
}

/// The tool prints initializers of eight bits as int32; the file's type is right.
std::string corrected(std::string text) {
  for (const std::string name : {"int8", "uint8"}) {
    const std::string wrong = "name='unused_" + name + "' type=int32";
    if (const auto at = text.find(wrong); at != text.npos)
      text.replace(at, wrong.size(), "name='unused_" + name + "' type=" + name);
  }
  return text;
}

}  // namespace

TEST_SUITE("workbench_pretty") {
  TEST_CASE("every golden model is printed as by onnx-array-api") {
    const auto names = test::workbench_names("text", true);
    CHECK(names.size() == 32);
    for (const std::string& name : names) {
      INFO(name);
      CHECK(pretty(name) == corrected(test::workbench_text("text/" + name + ".txt")));
    }
  }
}

}  // namespace symprof::pretty_test
