// The reader of torch.profiler's traces, on hand-made records.
#include "measure/kineto/kineto.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "tests/support/source_folder.h"

namespace symprof::measure::test::kineto_test {
namespace {

std::string op(const char* name, double ts, double dur, const std::string& arguments = "",
               int thread = 1) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 9, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      name, thread, ts, dur, arguments);
}

std::string launch(std::int64_t correlation, double ts, int thread = 1,
                   const char* name = "cudaLaunchKernel") {
  return fmt::format(
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 9, "tid": {}, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}})",
      name, thread, ts, correlation);
}

std::string kernel(const char* name, double ts, double dur, const std::string& arguments) {
  return fmt::format(
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {}, "args": {{{}}}}})",
      name, ts, dur, arguments);
}

std::string of(std::int64_t correlation) {
  return fmt::format(R"("correlation": {})", correlation);
}

Trace trace_of(const std::vector<std::string>& events) {
  std::string text = R"({"traceEvents": [)";
  for (const std::string& event : events) text += (text.ends_with('[') ? "" : ", ") + event;
  return parse_kineto(text + "]}", "hand.json");
}

std::string operator_of(const Trace& trace, const char* kernel) {
  const auto found = std::ranges::find(trace.activities, kernel, &Activity::name);
  REQUIRE(found != trace.activities.end());
  const OperatorId id = named_operator(trace, found->op);
  return id == none ? "" : trace.operators[static_cast<std::size_t>(id)].name;
}

const Activity& activity(const Trace& trace, const char* kernel) {
  return *std::ranges::find(trace.activities, kernel, &Activity::name);
}

std::string message_of(const std::string& path) {
  try {
    read_kineto(path);
  } catch (const Error& error) {
    return error.summary();
  }
  return "";
}

std::string message_of_text(const std::string& text) {
  try {
    parse_kineto(text, "hand.json");
  } catch (const Error& error) {
    return error.summary();
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("kineto");

TEST_CASE("nesting and correlation link records in any order") {
  std::vector<std::string> events = {
      op("aten::linear", 10, 50, R"("External id": 5)"),
      op("aten::addmm", 20, 30, R"("External id": 6)"),
      launch(77, 25),
      op("aten::relu", 70, 10, R"("External id": 77)"),
      launch(78, 72),
      // The external id is another operator's, as written by PyTorch 1.12 to 2.3.
      kernel("gemm", 100, 9, R"("correlation": 77, "External id": 77)"),
      kernel("relu", 109, 2, R"("correlation": 78, "External id": 5)"),
  };
  std::ranges::sort(events);
  do {
    const Trace trace = trace_of(events);
    REQUIRE(operator_of(trace, "gemm") == "aten::addmm");
    REQUIRE(operator_of(trace, "relu") == "aten::relu");
    REQUIRE(trace.activities.front().name == "gemm");
  } while (std::ranges::next_permutation(events).found);
}

TEST_CASE("an incomplete link says how far it got") {
  const Trace trace =
      trace_of({op("aten::mm", 10, 10), launch(1, 12), launch(2, 40), kernel("tied", 50, 1, of(1)),
                kernel("outside", 51, 1, of(2)), kernel("lost call", 52, 1, of(3)),
                kernel("no id", 53, 1, ""), kernel("id 0", 54, 1, of(0))});
  CHECK(activity(trace, "tied").link == Activity::Link::tied);
  CHECK(activity(trace, "outside").link == Activity::Link::no_operator);
  CHECK(activity(trace, "lost call").link == Activity::Link::no_call);
  CHECK(activity(trace, "no id").link == Activity::Link::no_correlation);
  CHECK(activity(trace, "id 0").link == Activity::Link::no_correlation);
  CHECK(operator_of(trace, "lost call").empty());
}

TEST_CASE("reused ids belong to the last call before the kernel, ids above 2^31 to their own") {
  const Trace trace =
      trace_of({op("aten::mm", 10, 10), launch(5, 12), op("aten::bmm", 30, 10), launch(5, 32),
                op("aten::exp", 50, 10), launch(-2, 52), kernel("first", 15, 1, of(5)),
                kernel("second", 35, 1, of(5)), kernel("high", 60, 1, of(4294967294))});
  CHECK(operator_of(trace, "first") == "aten::mm");
  CHECK(operator_of(trace, "second") == "aten::bmm");
  CHECK(operator_of(trace, "high") == "aten::exp");
}

TEST_CASE("kernels of a CUDA graph belong to its launch, and are marked") {
  const Trace trace = trace_of({op("CompiledFunction", 10, 10), launch(5, 12, 1, "cudaGraphLaunch"),
                                kernel("a", 15, 1, of(5)), kernel("b", 16, 4, of(5))});
  for (const char* name : {"a", "b"}) {
    CHECK(activity(trace, name).from_graph);
    CHECK(operator_of(trace, name) == "CompiledFunction");
  }
}

TEST_CASE("busy time is the union over streams and devices") {
  const Trace trace = trace_of({
      kernel("a", 10, 10, R"("device": 0, "stream": 7)"),
      kernel("b", 15, 10, R"("device": 0, "stream": 20)"),
      kernel("c", 18, 2, R"("device": 1, "stream": 7)"),
      kernel("d", 40, 5, R"("device": 1, "stream": 7)"),
  });
  CHECK(busy_ns(trace) == (15 + 5) * 1000);
  CHECK(activity(trace, "b").stream == 20);
  CHECK(activity(trace, "c").device == 1);
}

TEST_CASE("phases: autograd's frames and thread, an optimizer step, a standalone update") {
  const std::string forward = R"("Sequence number": 3, "Fwd thread id": 0)";
  const std::string node = R"("Sequence number": 3, "Fwd thread id": 1)";
  const Trace trace = trace_of({
      op("aten::mm", 10, 10, forward),
      launch(1, 12),
      kernel("forward", 100, 1, of(1)),
      // PyTorch 1.9: no number after the name, and gradient sums without a frame.
      op("MmBackward", 30, 10, node, 2),
      op("aten::mm", 31, 5, "", 2),
      launch(2, 32, 2),
      kernel("backward", 101, 1, of(2)),
      op("aten::add", 45, 5, "", 2),
      launch(3, 46, 2),
      kernel("sum", 102, 1, of(3)),
      op("Optimizer.step#SGD.step", 60, 20),
      op("aten::add_", 62, 5),
      launch(4, 63),
      kernel("update", 103, 1, of(4)),
      op("aten::_foreach_add_", 90, 5),
      launch(5, 91),
      kernel("loose update", 104, 1, of(5)),
      op("CompiledFunction", 96, 9),
      op("aten::_foreach_copy_", 97, 5),
      launch(6, 98),
      kernel("copies", 110, 1, of(6)),
  });
  CHECK(activity(trace, "forward").phase == Phase::forward);
  CHECK(activity(trace, "backward").phase == Phase::backward);
  CHECK(activity(trace, "sum").phase == Phase::backward);
  CHECK(activity(trace, "update").phase == Phase::optimizer);
  CHECK(activity(trace, "loose update").phase == Phase::optimizer);
  CHECK(activity(trace, "copies").phase == Phase::forward);
}

TEST_CASE("events without a time are skipped and counted") {
  const Trace trace = trace_of(
      {R"({"ph": "X", "cat": "kernel", "name": "a", "ts": "x", "dur": 1})",
       R"({"ph": "X", "cat": "cpu_op", "name": "b", "ts": 1})",
       R"({"ph": "X", "cat": "kernel", "name": "c", "ts": 1, "dur": -4, "args": 7})",
       R"({"ph": "X", "cat": "kernel", "name": "d", "ts": 1e300, "dur": 1})",
       R"({"ph": "i", "cat": "kernel"})", R"({"name": 3})", kernel("good", 4, 1.5, of(1))});
  CHECK(trace.unreadable_events == 4);
  REQUIRE(trace.activities.size() == 1);
  CHECK(trace.activities[0].duration_ns() == 1500);
}

TEST_CASE("whole microseconds since 1970 keep their digits") {
  const Trace trace = parse_kineto(
      R"({"traceEvents": [{"ph": "X", "cat": "Kernel", "name": "k", "ts": 1623142623810387, "dur": 3}]})",
      "hand.json");
  CHECK(trace.activities.at(0).begin_ns == 1623142623810387000);
}

TEST_CASE("an invalid trace reports the position of its error") {
  CHECK(message_of_text(R"({"traceEvents": [{"ph": "X")").find("byte 27 of 27") !=
        std::string::npos);
  CHECK(message_of_text("{}") == "hand.json: has no list 'traceEvents'.");
  CHECK(message_of_text(R"({"traceEvents": [{}, 3]})") == "hand.json: event 1: is no object.");
  CHECK(message_of_text("").find("hand.json: ") == 0);
  CHECK(message_of("/nowhere/trace.json").find("cannot be read") != std::string::npos);
}

TEST_CASE("a truncated compressed trace reports the byte") {
  namespace fs = std::filesystem;
  const std::string real =
      symprof::test::source_folder() + "/truth/kineto/data/rtx3060_lm_graph_train.json.gz";
  const fs::path cut = fs::temp_directory_path() / "symprof_kineto_cut.json.gz";
  fs::copy_file(real, cut, fs::copy_options::overwrite_existing);
  for (const std::uintmax_t size : {std::uintmax_t{9000}, std::uintmax_t{30}}) {
    fs::resize_file(cut, size);
    const std::string message = message_of(cut.string());
    CHECK_MESSAGE(message.find(fmt::format("at byte {}", size)) != std::string::npos, message);
  }
  std::ofstream(cut, std::ios::binary | std::ios::in).seekp(20).write("\xff\xff\xff\xff\xff", 5);
  CHECK(message_of(cut.string()).find("damaged at byte") != std::string::npos);
  fs::remove(cut);
}

TEST_SUITE_END();

}  // namespace symprof::measure::test::kineto_test
