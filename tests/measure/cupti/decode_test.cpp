// CUPTI's records as data.
#include "measure/cupti/decode.h"

#include <doctest/doctest.h>

#include "tests/measure/cupti/records_by_hand.h"

namespace symprof::measure::cupti::test::decode_test {

TEST_SUITE_BEGIN("cupti_decode");

TEST_CASE("a kernel: its demangled name, launch and time") {
  CUpti_ActivityKernel10 record = kernel_record("_Z4fillIfEvPT_S0_l", 7, 1000, 1250);
  record.gridX = 5, record.gridY = 3, record.gridZ = 2;
  record.blockX = 128, record.blockY = 2, record.blockZ = 1;
  record.registersPerThread = 40;
  record.staticSharedMemory = 1024, record.dynamicSharedMemory = 65536;
  record.deviceId = 1, record.streamId = 13;
  record.graphNodeId = 99;
  Records records;
  decode(&record, records);
  REQUIRE(records.works.size() == 1);
  const Work& work = records.works[0];
  CHECK(work.kind == Activity::Kind::kernel);
  CHECK(work.name == "void fill<float>(float*, float, long)");
  CHECK(work.correlation == 7);
  CHECK(work.begin_ns == 1000);
  CHECK(work.end_ns == 1250);
  CHECK(work.grid == std::array<std::int32_t, 3>{5, 3, 2});
  CHECK(work.block == std::array<std::int32_t, 3>{128, 2, 1});
  CHECK(work.registers == 40);
  CHECK(work.static_shared_bytes == 1024);
  CHECK(work.dynamic_shared_bytes == 65536);
  CHECK(work.device == 1);
  CHECK(work.stream == 13);
  CHECK(work.from_graph);
}

TEST_CASE("a name that is not from C++ is unchanged") {
  const CUpti_ActivityKernel10 named = kernel_record("sm90_gemm_kernel", 1, 1, 2);
  const CUpti_ActivityKernel10 nameless = kernel_record(nullptr, 1, 1, 2);
  Records records;
  decode(&named, records);
  decode(&nameless, records);
  CHECK(records.works.at(0).name == "sm90_gemm_kernel");
  CHECK(records.works.at(1).name == "a kernel without a name");
}

TEST_CASE("copies and memsets have bytes") {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = 4096, copy.start = 10, copy.end = 20;
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.bytes = 512, set.start = 30, set.end = 31;
  Records records;
  decode(&copy, records);
  decode(&set, records);
  CHECK(records.works.at(0).kind == Activity::Kind::copy);
  CHECK(records.works.at(0).name == "Memcpy DtoH");
  CHECK(records.works.at(0).bytes == 4096);
  CHECK(records.works.at(1).kind == Activity::Kind::set);
  CHECK(records.works.at(1).bytes == 512);
}

TEST_CASE("calls and external ids") {
  const CUpti_ActivityAPI call = call_record(4'000'000'000U, 5, 9);
  const CUpti_ActivityExternalCorrelation id = id_record(4'000'000'000U, 1ULL << 40);
  Records records;
  decode(&call, records);
  decode(&id, records);
  CHECK(records.calls.at(0).correlation == 4'000'000'000U);
  CHECK(records.calls.at(0).end_ns == 9);
  CHECK(records.ids.at(0).id == 1ULL << 40);
}

TEST_CASE("records without a time are counted and skipped, other kinds ignored") {
  const CUpti_ActivityKernel10 never = kernel_record("k", 1, 0, 0);
  const CUpti_ActivityKernel10 backwards = kernel_record("k", 1, 20, 10);
  CUpti_Activity other{};
  other.kind = CUPTI_ACTIVITY_KIND_NAME;
  Records records;
  decode(&never, records);
  decode(&backwards, records);
  decode(&other, records);
  CHECK(records.works.empty());
  CHECK(records.unreadable == 2);
}

TEST_SUITE_END();

}  // namespace symprof::measure::cupti::test::decode_test
