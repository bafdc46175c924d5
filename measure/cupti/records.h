// CUPTI's records of a time span, as data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/trace.h"

namespace symprof::measure::cupti {

/// A kernel, a copy or a memset. Nanoseconds of CUPTI's clock.
struct Work {
  Activity::Kind kind = Activity::Kind::kernel;
  std::string name;               ///< Demangled; "Memcpy DtoD", "Memset".
  std::uint32_t correlation = 0;  ///< Of the call that submitted it; 0: none.
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t device = 0, stream = 0;
  bool from_graph = false;  ///< Launched by a CUDA graph.
  std::array<std::int32_t, 3> grid{}, block{};
  std::int64_t registers = 0;  ///< Of a thread.
  std::int64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::int64_t bytes = 0;  ///< Copied or set.
};

/// A call of CUDA's runtime or driver.
struct ApiCall {
  std::uint32_t correlation = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// The external id that the program had pushed during a call.
struct ProgramId {
  std::uint32_t correlation = 0;
  std::uint64_t id = 0;
};

struct Records {
  std::vector<Work> works;
  std::vector<ApiCall> calls;
  std::vector<ProgramId> ids;
  std::int64_t dropped = 0;     ///< Records dropped by CUPTI.
  std::int64_t unreadable = 0;  ///< Works without a time.
};

}  // namespace symprof::measure::cupti
