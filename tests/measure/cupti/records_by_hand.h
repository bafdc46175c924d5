// Hand-made CUPTI records, in the library's layout.
#pragma once

#include <cupti_activity.h>

#include <cstdint>
#include <cstring>

namespace symprof::measure::cupti::test {

/// A record of `kind` with default fields.
template <class Record>
Record empty_record(CUpti_ActivityKind kind, std::uint32_t correlation) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  record.correlationId = correlation;
  return record;
}

/// The record of the current library, which begins with the members of earlier ones.
inline CUpti_ActivityKernel10 kernel_record(const char* name, std::uint32_t correlation,
                                            std::uint64_t start, std::uint64_t end) {
  auto record =
      empty_record<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, correlation);
  record.name = name;
  record.start = start;
  record.end = end;
  return record;
}

inline CUpti_ActivityAPI call_record(std::uint32_t correlation, std::uint64_t start,
                                     std::uint64_t end) {
  auto record = empty_record<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME, correlation);
  record.start = start;
  record.end = end;
  return record;
}

inline CUpti_ActivityExternalCorrelation id_record(std::uint32_t correlation, std::uint64_t id) {
  auto record = empty_record<CUpti_ActivityExternalCorrelation>(
      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, correlation);
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  record.externalId = id;
  return record;
}

}  // namespace symprof::measure::cupti::test
