// CUPTI's activity API without a GPU: the records of operations, with made-up times. It has what
// torch.profiler (Kineto, in libtorch_cpu.so) and symprof's client ask for.
//
// A buffer is asked for when the first record comes, as Kineto flushes only what it gave a buffer
// for. A client may register a clock of its own; all times are then in its unit.
#include <cupti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "records.h"

namespace fake {
namespace {

constexpr std::uint64_t launch_delay_ns = 3000, gap_ns = 1000;
constexpr std::uint32_t default_stream_id = 7;  // CUPTI's number of the default stream.

using Bytes = std::vector<std::uint8_t>;

struct Cupti {
  std::mutex mutex;
  std::set<CUpti_ActivityKind> enabled;
  CUpti_TimestampCallbackFunc clock = nullptr;
  double ticks_per_ns = 1;
  std::deque<Bytes> records;  ///< Not yet in a buffer.
  std::map<std::uint64_t, std::uint32_t> stream_ids{{0, default_stream_id}};
  std::map<std::uint32_t, std::uint64_t> stream_ends;
  std::uint64_t last_end = 0;
  std::size_t made = 0, dropped = 0, drop_every = 0;
};
Cupti& cupti() {
  static Cupti& made = *[] {
    auto* fresh = new Cupti;
    if (const char* every = std::getenv("FAKE_CUPTI_DROP_EVERY"))
      fresh->drop_every = std::strtoul(every, nullptr, 10);
    return fresh;
  }();
  return made;
}
thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> external_ids;

/// The buffer of the client, whose functions are called without the lock of the records.
struct Buffer {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0, used = 0, records = 0, most_records = 0;

  void give_back() {
    if (bytes != nullptr) complete(nullptr, 0, bytes, size, used);
    bytes = nullptr;
  }
  bool has_room(std::size_t wanted) const {
    return bytes != nullptr && used + wanted <= size &&
           (most_records == 0 || records < most_records);
  }
  /// Whether `record` found room.
  bool add(const Bytes& record) {
    if (!has_room(record.size())) {
      give_back();
      size = used = records = most_records = 0;
      request(&bytes, &size, &most_records);
    }
    if (!has_room(record.size())) return false;
    std::memcpy(bytes + used, record.data(), record.size());
    used += record.size();
    ++records;
    return true;
  }
};
Buffer& buffer() {
  static Buffer& made = *new Buffer;
  return made;
}

std::uint64_t now() {
  if (cupti().clock != nullptr) return cupti().clock();
  using namespace std::chrono;
  return static_cast<std::uint64_t>(
      duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
}
std::uint64_t ticks(std::uint64_t ns) {
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(ns) * cupti().ticks_per_ns));
}

template <class Record>
Record record_of(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

std::size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    default:
      return sizeof(CUpti_ActivityExternalCorrelation);
  }
}

/// The lock is held. Every `drop_every`-th record finds no room.
template <class Record>
void keep(const Record& record) {
  Cupti& c = cupti();
  if (!c.enabled.contains(record.kind)) return;
  if (c.drop_every != 0 && ++c.made % c.drop_every == 0) {
    ++c.dropped;
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
  c.records.emplace_back(bytes, bytes + sizeof record);
}

std::uint32_t id_of_stream(std::uint64_t handle) {
  auto& ids = cupti().stream_ids;
  return ids.try_emplace(handle, default_stream_id + 6 + static_cast<std::uint32_t>(ids.size()))
      .first->second;
}

/// When and where an operation ran.
struct Place {
  std::uint32_t stream;
  std::uint64_t begin, end;
};

/// Behind what its stream was given before.
Place place_of(const Operation& operation, std::uint64_t asked) {
  Cupti& c = cupti();
  const std::uint32_t stream = id_of_stream(operation.stream);
  std::uint64_t& stream_end = c.stream_ends[stream];
  const std::uint64_t begin = std::max(asked + ticks(launch_delay_ns), stream_end + ticks(gap_ns));
  stream_end = begin + ticks(operation.duration_ns);
  c.last_end = std::max(c.last_end, stream_end);
  return {stream, begin, stream_end};
}

template <class Record>
Record placed(CUpti_ActivityKind kind, const Operation& operation, const Place& place) {
  auto record = record_of<Record>(kind);
  record.start = place.begin;
  record.end = place.end;
  record.contextId = 1;
  record.streamId = place.stream;
  record.correlationId = operation.correlation;
  record.graphNodeId = operation.graph_node;
  return record;
}

void keep_copy(const Operation& operation, const Place& place) {
  auto record = placed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, operation, place);
  constexpr int host_to_device = 1, device_to_host = 2, device_to_device = 3;  // cudaMemcpyKind
  const auto memory = [](bool is_host) {
    return is_host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  };
  record.bytes = operation.bytes;
  record.copyKind = static_cast<std::uint8_t>(operation.copy_kind == device_to_device
                                                  ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
                                                  : operation.copy_kind);
  record.srcKind = memory(operation.copy_kind == host_to_device);
  record.dstKind = memory(operation.copy_kind == device_to_host);
  record.copyCount = 1;
  keep(record);
}

void keep_kernel(const Operation& operation, const Place& place) {
  auto record =
      placed<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, operation, place);
  record.completed = place.end;
  record.name = operation.name;
  record.gridX = static_cast<std::int32_t>(operation.grid[0]);
  record.gridY = static_cast<std::int32_t>(operation.grid[1]);
  record.gridZ = static_cast<std::int32_t>(operation.grid[2]);
  record.blockX = static_cast<std::int32_t>(operation.block[0]);
  record.blockY = static_cast<std::int32_t>(operation.block[1]);
  record.blockZ = static_cast<std::int32_t>(operation.block[2]);
  record.dynamicSharedMemory = static_cast<std::int32_t>(operation.dynamic_shared_bytes);
  record.clusterX = record.clusterY = record.clusterZ = 1;
  keep(record);
}

void keep_operation(const Operation& operation, std::uint64_t asked) {
  const Place place = place_of(operation, asked);
  if (operation.kind == Operation::Kind::copy) return keep_copy(operation, place);
  if (operation.kind != Operation::Kind::set) return keep_kernel(operation, place);
  auto record = placed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, operation, place);
  record.bytes = operation.bytes;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  keep(record);
}

/// The program's own numbers first, then the call.
void keep_call(Api api, std::uint32_t correlation, std::uint64_t entered, std::uint64_t left) {
  for (const auto& [kind, ids] : external_ids) {
    if (ids.empty()) continue;
    auto link =
        record_of<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    link.externalKind = kind;
    link.externalId = ids.back();
    link.correlationId = correlation;
    keep(link);
  }
  auto call = record_of<CUpti_ActivityAPI>(api.is_driver ? CUPTI_ACTIVITY_KIND_DRIVER
                                                         : CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = static_cast<CUpti_CallbackId>(api.cbid);
  call.start = entered;
  call.end = left;
  call.processId = static_cast<std::uint32_t>(getpid());
  call.threadId = static_cast<std::uint32_t>(syscall(SYS_gettid));
  call.correlationId = correlation;
  keep(call);
}

void fill_buffers() {
  Buffer& b = buffer();
  const std::lock_guard lock(b.mutex);
  if (b.request == nullptr) return;
  std::deque<Bytes> records;
  {
    const std::lock_guard records_lock(cupti().mutex);
    records.swap(cupti().records);
  }
  for (const Bytes& record : records)
    if (!b.add(record)) ++cupti().dropped;
}

}  // namespace

std::uint64_t cupti_now() { return cupti().enabled.empty() ? 0 : now(); }

void cupti_record(const std::vector<Operation>& operations, Api api, std::uint32_t correlation,
                  std::uint64_t entered) {
  if (entered == 0) return;
  {
    const std::lock_guard lock(cupti().mutex);
    const std::uint64_t left = now();
    keep_call(api, correlation, entered, left);
    for (const Operation& operation : operations) keep_operation(operation, left);
  }
  fill_buffers();
}

void cupti_wait() {
  if (cupti().enabled.empty()) return;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(cupti().mutex);
    end = cupti().last_end;
  }
  while (now() < end) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace fake

using fake::cupti;

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "an error of the fake CUPTI";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = fake::now();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  cupti().clock = clock;
  if (clock == nullptr) return CUPTI_SUCCESS;
  using namespace std::chrono;
  const auto began = steady_clock::now();
  const std::uint64_t first = clock();
  std::this_thread::sleep_for(milliseconds(20));
  const std::uint64_t last = clock();
  cupti().ticks_per_ns = static_cast<double>(last - first) /
                         duration<double, std::nano>(steady_clock::now() - began).count();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(fake::buffer().mutex);
  fake::buffer().request = request;
  fake::buffer().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (std::getenv("FAKE_CUPTI_REFUSES") != nullptr) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const std::lock_guard lock(cupti().mutex);
  cupti().enabled.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(cupti().mutex);
  cupti().enabled.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  fake::fill_buffers();
  fake::write_flush();
  const std::lock_guard lock(fake::buffer().mutex);
  fake::buffer().give_back();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                       CUpti_Activity** record) {
  std::uint8_t* next = *record == nullptr ? buffer
                                          : reinterpret_cast<std::uint8_t*>(*record) +
                                                fake::size_of((*record)->kind);
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = std::exchange(cupti().dropped, 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  fake::external_ids[kind].push_back(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* last) {
  auto& ids = fake::external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  static char handle;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&handle);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }
CUptiResult cuptiFinalize() { return CUPTI_SUCCESS; }
CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid,
                                 const char** name) {
  static const std::map<std::uint32_t, const char*> runtime = {
      {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, "cudaLaunchKernelExC_v11060"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
       "cudaLaunchCooperativeKernel_v9000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020, "cudaMemcpy_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "cudaMemsetAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020, "cudaMemset_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, "cudaDeviceSynchronize_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cudaStreamSynchronize_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch_v10000"}};
  static const std::map<std::uint32_t, const char*> driver = {
      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
      {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"}};
  const auto& names = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driver : runtime;
  const auto found = names.find(cbid);
  *name = found == names.end() ? "unknown" : found->second;
  return CUPTI_SUCCESS;
}
}
