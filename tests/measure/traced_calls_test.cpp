// Calls of a trace with the times of their kernels. The trace is written here: times are known.
#include "measure/traced_calls.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "measure/kineto/kineto.h"

namespace symprof::measure::traced_calls_test {
namespace {

constexpr auto shapes =
    R"("Input Dims": [[8], [4, 8], []], "Input type": ["float", "float", "Scalar"],
       "Input Strides": [[1], [8, 1], []], "Concrete Inputs": ["", "", "1"])";

std::string op(const char* name, int begin, int us, const char* arguments) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": {},
          "args": {{{}}}}},)",
      name, begin, us, arguments);
}

/// A launch at `at`, and its kernel from `begin` on.
std::string kernel(int id, int at, int begin, int us, const char* call = "cudaLaunchKernel",
                   const char* name = "k", int stream = 7) {
  return fmt::format(
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": 1,
          "args": {{"correlation": {}}}}},
         {{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {},
          "args": {{"correlation": {}, "device": 0, "stream": {}}}}},)",
      call, at, id, name, stream, begin, us, id, stream);
}

TracedCalls calls_in(std::string events) {
  events.pop_back();
  const Trace trace =
      parse_kineto(R"({"deviceProperties": [{"name": "A GPU"}], "traceEvents": [)" + events + "]}",
                   "t.json", Arguments::kept);
  return traced_calls(trace, [](std::string_view name) { return name == "aten::addmm"; });
}

TEST_SUITE("measure") {
  TEST_CASE("equal calls of a trace are one, with the sum of each one's kernels") {
    const TracedCalls found =
        calls_in(op("aten::linear", 0, 20, shapes) + op("aten::addmm", 1, 18, shapes) +
                 op("aten::fill_", 2, 3, shapes) + kernel(1, 3, 100, 10) + kernel(2, 10, 120, 5) +
                 op("aten::addmm", 30, 10, shapes) + kernel(3, 31, 200, 40));
    REQUIRE(found.calls.size() == 1);
    CHECK(found.calls[0].call.op == "aten::addmm");
    CHECK(found.calls[0].us == std::vector<double>{15, 40});
    CHECK_FALSE(found.calls[0].uses_tf32);
    const OperatorArgument& second = found.calls[0].call.arguments.at(1);
    CHECK(second.type == "float");
    CHECK(second.sizes == std::vector<std::int64_t>{4, 8});
    CHECK(second.strides == std::vector<std::int64_t>{8, 1});
    CHECK(found.calls[0].call.arguments.at(2).value == "1");
    CHECK(found.time.total == 55);
  }

  TEST_CASE("time that no call is a measurement of is told apart") {
    const TracedCalls found = calls_in(
        op("aten::addmm", 0, 9, R"("Input Dims": [[8], [4, 8], []])") + kernel(1, 1, 100, 1) +
        op("aten::relu", 10, 9, shapes) + kernel(2, 11, 110, 2) + op("aten::addmm", 20, 9, shapes) +
        kernel(3, 21, 120, 4, "cudaGraphLaunch") + op("aten::addmm", 30, 9, shapes) +
        kernel(4, 31, 130, 8) + op("aten::relu", 40, 9, shapes) +
        kernel(5, 41, 137, 16, "cudaLaunchKernel", "k", 9));
    CHECK(found.calls.empty());
    CHECK(found.time.no_arguments == 1);
    CHECK(found.time.no_operator == 2 + 16);
    CHECK(found.time.graph == 4);
    CHECK(found.time.overlapped == 8);
    CHECK(found.time.total == 31);
  }

  TEST_CASE("the names of kernels tell TF32") {
    const auto uses_tf32 = [](const char* name) {
      return calls_in(op("aten::addmm", 0, 9, shapes) +
                      kernel(1, 1, 100, 5, "cudaLaunchKernel", name))
          .calls.at(0)
          .uses_tf32;
    };
    CHECK(uses_tf32("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x64"));
    CHECK(uses_tf32("cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4"));
    CHECK_FALSE(uses_tf32("ampere_sgemm_128x64_tn"));
    CHECK_FALSE(uses_tf32("ampere_bf16_s16816gemm_bf16_128x64_ldg8"));
  }
}

}  // namespace
}  // namespace symprof::measure::traced_calls_test
