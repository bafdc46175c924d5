#include "measure/cupti/client.h"

#include <cupti_activity.h>
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "measure/cupti/decode.h"

namespace symprof::measure::cupti {
namespace {

constexpr std::array library_names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
constexpr std::array recorded_kinds = {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                       CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                       CUPTI_ACTIVITY_KIND_MEMCPY,
                                       CUPTI_ACTIVITY_KIND_MEMCPY2,
                                       CUPTI_ACTIVITY_KIND_MEMSET,
                                       CUPTI_ACTIVITY_KIND_RUNTIME,
                                       CUPTI_ACTIVITY_KIND_DRIVER};
constexpr auto id_kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

/// CUDA runtime and driver calls that submit work: other calls are far more frequent, and each
/// record costs host time.
constexpr std::array asking_calls = {std::string_view("Launch"), std::string_view("Memcpy"),
                                     std::string_view("Memset")};

struct Buffer {
  std::uint8_t* memory = nullptr;
  std::size_t valid_bytes = 0;
};

/// CUPTI fills buffers on its own threads.
struct Filled {
  std::mutex mutex;
  std::vector<Buffer> buffers;
};

Filled& filled() {
  static Filled all;
  return all;
}

void CUPTIAPI give_buffer(std::uint8_t** memory, std::size_t* bytes, std::size_t* most_records) {
  constexpr std::size_t size = std::size_t{8} << 20;  // A large step's records.
  *memory = static_cast<std::uint8_t*>(std::aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, size));
  *bytes = *memory == nullptr ? 0 : size;
  *most_records = 0;  // No limit.
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* memory, std::size_t,
                          std::size_t valid_bytes) {
  const std::lock_guard lock(filled().mutex);
  filled().buffers.push_back({memory, valid_bytes});
}

}  // namespace

struct Client::Functions {
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) fail(std::string("its library has no ") + name);
  }

  [[noreturn]] static void fail(const std::string& why) {
    throw Error("CUPTI", why + ".",
                "It comes with PyTorch's CUDA build and with the CUDA toolkit; recording may be "
                "reserved for administrators.",
                ErrorKind::not_available);
  }

  void check(CUptiResult result, const char* what) const {
    if (result == CUPTI_SUCCESS) return;
    const char* words = nullptr;
    result_text(result, &words);
    fail(std::string(what) + ": " + (words == nullptr ? "an unknown error" : words));
  }

  void* library = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_id = nullptr;
  decltype(&cuptiGetTimestamp) timestamp = nullptr;
  decltype(&cuptiGetResultString) result_text = nullptr;
  decltype(&cuptiGetCallbackName) call_name = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_call = nullptr;
  decltype(&cuptiActivityEnableDriverApi) enable_driver_call = nullptr;

  /// Turns records of the calls in `domain` on or off. cbids are dense from 1; a later library may
  /// have more than this header.
  template <class Enable>
  void set_calls(CUpti_CallbackDomain domain, std::uint32_t end, Enable enable_call,
                 std::uint8_t on) const {
    for (std::uint32_t cbid = 1; cbid < end + 256; ++cbid) {
      const char* name = nullptr;
      if (call_name(domain, cbid, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      const std::string_view called = name;
      if (std::ranges::any_of(asking_calls, [&](std::string_view part) {
            return called.find(part) != std::string_view::npos;
          }))
        enable_call(cbid, on);
    }
  }
  void set_all_calls(std::uint8_t on) const {
    set_calls(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, enable_runtime_call, on);
    set_calls(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, enable_driver_call, on);
  }
};

Client::Client() : functions_(std::make_unique<Functions>()) {
  Functions& cupti = *functions_;
  for (const char* name : library_names)
    if (cupti.library == nullptr) cupti.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (cupti.library == nullptr) Functions::fail("its library cannot be loaded");
  cupti.find(cupti.register_callbacks, "cuptiActivityRegisterCallbacks");
  cupti.find(cupti.enable, "cuptiActivityEnable");
  cupti.find(cupti.disable, "cuptiActivityDisable");
  cupti.find(cupti.flush, "cuptiActivityFlushAll");
  cupti.find(cupti.next_record, "cuptiActivityGetNextRecord");
  cupti.find(cupti.dropped_records, "cuptiActivityGetNumDroppedRecords");
  cupti.find(cupti.push_id, "cuptiActivityPushExternalCorrelationId");
  cupti.find(cupti.pop_id, "cuptiActivityPopExternalCorrelationId");
  cupti.find(cupti.timestamp, "cuptiGetTimestamp");
  cupti.find(cupti.result_text, "cuptiGetResultString");
  cupti.find(cupti.call_name, "cuptiGetCallbackName");
  cupti.find(cupti.enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  cupti.find(cupti.enable_driver_call, "cuptiActivityEnableDriverApi");
  cupti.check(cupti.register_callbacks(&give_buffer, &take_buffer), "its buffers are refused");
  for (const CUpti_ActivityKind kind : recorded_kinds)
    cupti.check(cupti.enable(kind), "it does not record");
  cupti.set_all_calls(1);
}

Client::~Client() {
  for (const CUpti_ActivityKind kind : recorded_kinds) functions_->disable(kind);
  functions_->set_all_calls(0);
  functions_->flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard lock(filled().mutex);
  for (const Buffer& buffer : filled().buffers) std::free(buffer.memory);
  filled().buffers.clear();
}

void Client::push(std::uint64_t id) { functions_->push_id(id_kind, id); }

void Client::pop() {
  std::uint64_t last = 0;
  functions_->pop_id(id_kind, &last);
}

std::int64_t Client::now_ns() const {
  std::uint64_t now = 0;
  functions_->timestamp(&now);
  return static_cast<std::int64_t>(now);
}

Records Client::take() {
  const Functions& cupti = *functions_;
  cupti.check(cupti.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "its records are not given");
  std::vector<Buffer> buffers;
  {
    const std::lock_guard lock(filled().mutex);
    buffers = std::exchange(filled().buffers, {});
  }
  Records records;
  for (const Buffer& buffer : buffers) {
    CUpti_Activity* record = nullptr;
    while (cupti.next_record(buffer.memory, buffer.valid_bytes, &record) == CUPTI_SUCCESS)
      decode(record, records);
    std::free(buffer.memory);
  }
  std::size_t dropped = 0;
  if (cupti.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS)
    records.dropped = static_cast<std::int64_t>(dropped);
  return records;
}

}  // namespace symprof::measure::cupti
