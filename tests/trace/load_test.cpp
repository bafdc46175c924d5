#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "tests/support/exported_archive.h"
#include "tests/support/source_folder.h"
#include "trace/graph/graph.h"
#include "trace/load.h"

namespace {

using namespace symprof;
using test::Program;
using test::relu_program;
using test::TemporaryFile;

/// The error message of loading, without the path; "no error" when it succeeds.
std::string message(const std::string& path) {
  try {
    trace::verify(trace::load(path));
  } catch (const Error& error) {
    CHECK(error.where().starts_with(path));
    CHECK_FALSE(error.advice().empty());
    return std::string(error.what()).substr(path.size());
  }
  return "no error";
}

std::string message_of_bytes(const std::string& bytes, const std::string& name = "model") {
  const TemporaryFile file(name, bytes);
  return message(file.path());
}

std::string message(const Program& program) { return message_of_bytes(program.archive()); }

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != text.npos;
  CHECK(found);
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

/// The relu program with one part of its JSON replaced.
std::string message_after(const std::string& from, const std::string& to) {
  return message_of_bytes(
      test::stored_zip({{"m/models/model.json", replaced(relu_program().json(), from, to)}}));
}

}  // namespace

TEST_SUITE("load_errors") {
  TEST_CASE("a good file has no error") { CHECK(message(relu_program()) == "no error"); }

  TEST_CASE("missing files and directories") {
    contains(message("/no/such/model.pt2"), "there is no such file");
    contains(message(std::filesystem::temp_directory_path().string()), "is a directory");
    contains(message("/dev/null"), "is no regular file");
    contains(message_of_bytes(""), "is empty");
  }

  TEST_CASE("files of another format") {
    contains(message_of_bytes("Hello, world!"), "is not a model");
    contains(message_of_bytes("\x80\x02}q"), "is a checkpoint");
    contains(message_of_bytes(test::stored_zip({{"m/data.pkl", "x"}, {"m/data/0", "x"}})),
             "is a checkpoint");
    contains(message_of_bytes(test::stored_zip({{"m/data.pkl", "x"}, {"m/code/a.py", "x"}})),
             "is TorchScript, which is code");
    contains(message_of_bytes(test::stored_zip({{"notes/a.txt", "x"}})), "is not a model");
    contains(message_of_bytes(test::stored_zip({})), "is not a model");
    contains(
        message_of_bytes(test::stored_zip({{"serialized_exported_program.json",
                                            R"({"schema_version": {"major": 3, "minor": 1}})"}})),
        "schema version 3.1; versions 4 to 8 are known");
    contains(message_of_bytes(test::stored_zip({{"m/archive_format", "pt2"}})),
             "no models/*.json record");
    contains(
        message_of_bytes(test::stored_zip({{"m/models/a.json", "{}"}, {"m/models/b.json", "{}"}})),
        "several models: a, b");
  }

  TEST_CASE("an archive truncated anywhere is an error, not a crash") {
    const std::string whole = relu_program().archive();
    for (std::size_t size = 4; size < whole.size(); size += 37) {
      INFO(size);
      CHECK(message_of_bytes(whole.substr(0, size)) != "no error");
    }
  }

  TEST_CASE("any damaged byte is an error or has no effect") {
    const std::string whole = relu_program().archive();
    for (std::size_t at = 0; at < whole.size(); at += 11) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x15);
      INFO(at);
      CHECK_NOTHROW(message_of_bytes(damaged));
    }
  }

  TEST_CASE("a graph with any byte changed is an error or another graph") {
    const std::string json = relu_program().json();
    for (std::size_t at = 0; at < json.size(); at += 3)
      for (const char byte : {'0', '"', 'z', ']', '-'}) {
        std::string changed = json;
        changed[at] = byte;
        INFO(at);
        CHECK_NOTHROW(message_of_bytes(test::stored_zip({{"m/models/model.json", changed}})));
      }
  }

  TEST_CASE("a record with a wrong checksum") {
    const std::string whole = relu_program().archive();
    contains(message_of_bytes(replaced(whole, "aten.relu", "aten.silu")),
             "models/model.json: does not agree with its checksum");
  }

  TEST_CASE("a truncated shipped model") {
    std::ifstream file(test::source_folder() + "/models/tiny/mlp.pt2", std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(whole.size() > 1000);
    contains(message_of_bytes(whole.substr(0, whole.size() / 2)), "zip archive");
    std::string damaged = whole;
    damaged.replace(whole.size() / 2, 16, 16, 'x');
    CHECK_NOTHROW(message_of_bytes(damaged));
  }

  TEST_CASE("errors of invalid or unexpected JSON name the record and key") {
    const auto broken = [](const std::string& json) {
      return message_of_bytes(test::stored_zip({{"m/models/model.json", json}}));
    };
    contains(broken("{\"graph_module\": "), "models/model.json: is not well-formed JSON");
    contains(broken(""), "models/model.json: is not well-formed JSON");
    contains(broken("[]"), "'schema_version'");
    contains(broken(std::string(100000, '[')), "is not well-formed JSON");
    contains(message_after(R"("signature")", R"("unsigned")"), "'signature' is missing");
    contains(message_after(R"("nodes")", R"("knots")"), "'nodes' is missing");
    contains(message_after(R"("target")", R"("aim")"), "node relu: 'target' is missing");
    contains(message_after(R"("dtype": 7)", R"("dtype": "f")"), "a whole number was expected");
  }

  TEST_CASE("unsupported features") {
    Program newer = relu_program();
    newer.schema = R"({"major": 9, "minor": 1})";
    contains(message(newer), "schema version 9.1");
    contains(message(newer), "newer than this symprof");
    contains(message_after(R"("dtype": 7)", R"("dtype": 99)"), "unknown dtype code 99");
    contains(message_after(R"("layout": 7)", R"("layout": 1)"), "layout is not strided");
    contains(message_after(R"({"as_tensor": {"name": "x"}}, "kind")",
                           R"({"as_spline": {"name": "x"}}, "kind")"),
             "node relu: an argument of kind 'as_spline' is not supported");
    contains(message_after(R"({"user_input": {"arg")", R"({"moon_phase": {"arg")"),
             "an input of kind 'moon_phase' is not supported");
    contains(message_after(R"({"user_output": {"arg")", R"({"gradient_to_moon": {"arg")"),
             "an output of kind 'gradient_to_moon' is not supported");
  }

  TEST_CASE("inconsistent graphs") {
    contains(message_after(R"({"as_tensor": {"name": "x"}}, "kind")",
                           R"({"as_tensor": {"name": "z"}}, "kind")"),
             "node relu: uses 'z', which nothing before it defines");
    contains(message_after(R"("outputs": [{"as_tensor": {"name": "y"}}],
      "metadata")",
                           R"("outputs": [{"as_tensor": {"name": "x"}}], "metadata")"),
             "'x' is defined a second time");
    contains(message_after(R"({"as_int": 2})", R"({"as_int": -2})"), "size or stride -2");
    contains(message_after(R"({"as_int": 2})", R"({"as_int": 4611686018427387904})"),
             "more bytes than 64 bits count");
  }

  TEST_CASE("verify finds a use before its definition") {
    Graph graph;
    graph.path = "g";
    const ValueId x = graph.add_value({.name = "x", .kind = ValueKind::input});
    const ValueId y = graph.add_value({.name = "y"});
    const ValueId z = graph.add_value({.name = "z"});
    graph.inputs = {x};
    graph.nodes.push_back(
        {.name = "a", .op = "f", .arguments = {{"", ValueRef{z}}}, .outputs = {y}});
    graph.nodes.push_back(
        {.name = "b", .op = "f", .arguments = {{"", ValueRef{x}}}, .outputs = {z}});
    CHECK_THROWS_WITH(trace::verify(graph), doctest::Contains("g: a: uses 'z' before anything"));
    std::swap(graph.nodes[0], graph.nodes[1]);
    CHECK_NOTHROW(trace::verify(graph));
    graph.nodes[1].outputs = {z};
    CHECK_THROWS_WITH(trace::verify(graph), doctest::Contains("defines 'z'"));
    graph.outputs = {17};
    graph.nodes.pop_back();
    CHECK_THROWS_WITH(trace::verify(graph), doctest::Contains("does not have"));
  }
}
