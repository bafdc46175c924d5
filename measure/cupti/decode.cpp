#include "measure/cupti/decode.h"

#include <cupti_activity.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace symprof::measure::cupti {
namespace {

// Later versions append members.
using Kernel = CUpti_ActivityKernel9;
using Copy = CUpti_ActivityMemcpy6;
using Set = CUpti_ActivityMemset4;
using PeerCopy = CUpti_ActivityMemcpyPtoP4;

std::string readable(const char* mangled) {
  if (mangled == nullptr) return "a kernel without a name";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
  return status == 0 && name ? name.get() : mangled;
}

std::string_view copy_name(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "Memcpy HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "Memcpy DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "Memcpy DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "Memcpy PtoP";
    default:
      return "Memcpy";
  }
}

/// Adds a work; a work that never ended has no time.
void add(Work work, Records& records) {
  if (work.begin_ns <= 0 || work.end_ns < work.begin_ns)
    ++records.unreadable;
  else
    records.works.push_back(std::move(work));
}

/// The fields common to all work records, at different offsets.
template <class Record>
Work common(const Record& record, Activity::Kind kind) {
  return {.kind = kind,
          .name = {},
          .correlation = record.correlationId,
          .begin_ns = static_cast<std::int64_t>(record.start),
          .end_ns = static_cast<std::int64_t>(record.end),
          .device = record.deviceId,
          .stream = record.streamId,
          .from_graph = record.graphNodeId != 0};
}

void add_kernel(const Kernel& record, Records& records) {
  Work work = common(record, Activity::Kind::kernel);
  work.name = readable(record.name);
  work.grid = {record.gridX, record.gridY, record.gridZ};
  work.block = {record.blockX, record.blockY, record.blockZ};
  work.registers = record.registersPerThread;
  work.static_shared_bytes = record.staticSharedMemory;
  work.dynamic_shared_bytes = record.dynamicSharedMemory;
  add(std::move(work), records);
}

template <class Record>
void add_copy(const Record& record, Records& records) {
  Work work = common(record, Activity::Kind::copy);
  work.name = copy_name(record.copyKind);
  work.bytes = static_cast<std::int64_t>(record.bytes);
  add(std::move(work), records);
}

void add_set(const Set& record, Records& records) {
  Work work = common(record, Activity::Kind::set);
  work.name = "Memset";
  work.bytes = static_cast<std::int64_t>(record.bytes);
  add(std::move(work), records);
}

}  // namespace

void decode(const void* record, Records& records) {
  switch (static_cast<const CUpti_Activity*>(record)->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_kernel(*static_cast<const Kernel*>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_copy(*static_cast<const Copy*>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_copy(*static_cast<const PeerCopy*>(record), records);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return add_set(*static_cast<const Set*>(record), records);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& call = *static_cast<const CUpti_ActivityAPI*>(record);
      records.calls.push_back({.correlation = call.correlationId,
                               .begin_ns = static_cast<std::int64_t>(call.start),
                               .end_ns = static_cast<std::int64_t>(call.end)});
      return;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& id = *static_cast<const CUpti_ActivityExternalCorrelation*>(record);
      records.ids.push_back({.correlation = id.correlationId, .id = id.externalId});
      return;
    }
    default:
      return;
  }
}

}  // namespace symprof::measure::cupti
