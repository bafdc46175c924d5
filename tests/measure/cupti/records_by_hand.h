// CUPTI's records as its library writes them, made by hand.
#pragma once

#include <cupti_activity.h>

#include <cstdint>
#include <cstring>

namespace symprof::measure::cupti::test {

/// The record of today's library, whose first members are those of earlier ones.
inline CUpti_ActivityKernel10 kernel_record(const char* name, std::uint32_t correlation,
                                            std::uint64_t start, std::uint64_t end) {
  CUpti_ActivityKernel10 record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = name;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  return record;
}

inline CUpti_ActivityAPI call_record(std::uint32_t correlation, std::uint64_t start,
                                     std::uint64_t end) {
  CUpti_ActivityAPI record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.correlationId = correlation;
  record.start = start;
  record.end = end;
  return record;
}

inline CUpti_ActivityExternalCorrelation id_record(std::uint32_t correlation, std::uint64_t id) {
  CUpti_ActivityExternalCorrelation record;
  std::memset(&record, 0, sizeof record);
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  record.correlationId = correlation;
  record.externalId = id;
  return record;
}

}  // namespace symprof::measure::cupti::test
