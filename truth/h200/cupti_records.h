// CUPTI's activity records as JSON lines, one object a record. KERNELS.md documents the fields.
#pragma once

#include <cupti.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cupti_probe {

/// The output file. CUPTI delivers buffers on a thread of its own, and backward's ATen calls start
/// on autograd's: every line is written under one lock.
class Lines {
 public:
  static Lines& instance() {
    static Lines& lines = *new Lines;
    return lines;
  }
  bool open(const std::string& path) {
    file_.open(path);
    return file_.good();
  }
  void add(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_ << text << '\n' << std::flush;
  }

 private:
  std::ofstream file_;
  std::mutex mutex_;
};

/// What the records add up to. Read it only behind a flush: CUPTI's thread writes it.
struct Counts {
  std::map<std::string, uint64_t> records;
  std::set<uint32_t> correlations_with_external_id;
  std::vector<uint32_t> kernel_correlations;
};
inline Counts& counts = *new Counts;

inline std::string quoted(const char* text) {
  if (text == nullptr) return "null";
  std::string result = "\"";
  for (const char letter : std::string_view(text)) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return result + '"';
}

/// Writes what a CUPTI call answered; false, and a line on stderr, if it failed.
inline bool report(const std::string& call, CUptiResult code) {
  const char* text = nullptr;
  cuptiGetResultString(code, &text);
  Lines::instance().add(fmt::format(R"({{"record":"result","call":{},"code":{},"text":{}}})",
                                    quoted(call.c_str()), static_cast<int>(code), quoted(text)));
  if (code == CUPTI_SUCCESS) return true;
  std::cerr << "cupti_probe: " << call << ": " << (text ? text : "unknown") << " ("
            << static_cast<int>(code) << ")\n";
  return false;
}

inline std::string line_of(const CUpti_ActivityKernel10& kernel) {
  return fmt::format(
      R"({{"record":"kernel","name":{},"start_ns":{},"end_ns":{},"correlation":{},"device":{},)"
      R"("context":{},"stream":{},"grid":[{},{},{}],"block":[{},{},{}],"cluster":[{},{},{}],)"
      R"("registers_per_thread":{},"static_shared_bytes":{},"dynamic_shared_bytes":{},)"
      R"("local_bytes_per_thread":{},"graph_node":{}}})",
      quoted(kernel.name), kernel.start, kernel.end, kernel.correlationId, kernel.deviceId,
      kernel.contextId, kernel.streamId, kernel.gridX, kernel.gridY, kernel.gridZ, kernel.blockX,
      kernel.blockY, kernel.blockZ, kernel.clusterX, kernel.clusterY, kernel.clusterZ,
      kernel.registersPerThread, kernel.staticSharedMemory, kernel.dynamicSharedMemory,
      kernel.localMemoryPerThread, kernel.graphNodeId);
}

template <class Transfer>
std::string line_of(const char* kind, const Transfer& transfer) {
  return fmt::format(
      R"({{"record":"{}","start_ns":{},"end_ns":{},"bytes":{},"correlation":{},"stream":{}}})",
      kind, transfer.start, transfer.end, transfer.bytes, transfer.correlationId,
      transfer.streamId);
}

inline std::string line_of(const char* layer, CUpti_CallbackDomain domain,
                           const CUpti_ActivityAPI& call) {
  const char* name = nullptr;
  cuptiGetCallbackName(domain, call.cbid, &name);
  return fmt::format(
      R"({{"record":"{}","name":{},"start_ns":{},"end_ns":{},"correlation":{},"thread":{},)"
      R"("returned":{}}})",
      layer, quoted(name), call.start, call.end, call.correlationId, call.threadId,
      call.returnValue);
}

inline std::string line_of(const CUpti_ActivityExternalCorrelation& link) {
  return fmt::format(R"({{"record":"external","kind":{},"external_id":{},"correlation":{}}})",
                     static_cast<int>(link.externalKind), link.externalId, link.correlationId);
}

template <class Record>
const Record& as(const CUpti_Activity* record) {
  return *reinterpret_cast<const Record*>(record);  // its layout follows from record->kind
}

inline void write_record(const CUpti_Activity* record) {
  const auto write = [](const char* kind, const std::string& line) {
    ++counts.records[kind];
    Lines::instance().add(line);
  };
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      counts.kernel_correlations.push_back(as<CUpti_ActivityKernel10>(record).correlationId);
      return write("kernel", line_of(as<CUpti_ActivityKernel10>(record)));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return write("memcpy", line_of("memcpy", as<CUpti_ActivityMemcpy6>(record)));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return write("memset", line_of("memset", as<CUpti_ActivityMemset4>(record)));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return write("runtime",
                   line_of("runtime", CUPTI_CB_DOMAIN_RUNTIME_API, as<CUpti_ActivityAPI>(record)));
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return write("driver",
                   line_of("driver", CUPTI_CB_DOMAIN_DRIVER_API, as<CUpti_ActivityAPI>(record)));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      counts.correlations_with_external_id.insert(
          as<CUpti_ActivityExternalCorrelation>(record).correlationId);
      return write("external", line_of(as<CUpti_ActivityExternalCorrelation>(record)));
    default:
      return write("other", fmt::format(R"({{"record":"other","kind":{}}})",
                                        static_cast<int>(record->kind)));
  }
}

inline constexpr size_t kBufferBytes = 4 << 20;
inline constexpr size_t kAlignmentBytes = 8;  // ACTIVITY_RECORD_ALIGNMENT of CUPTI's samples

inline void CUPTIAPI buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kAlignmentBytes, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

inline void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                                      size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    write_record(record);
  }
  size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    counts.records["dropped"] += dropped;
  }
  std::free(buffer);
}

}  // namespace cupti_probe
