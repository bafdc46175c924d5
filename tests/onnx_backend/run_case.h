// Runs one case on CPU values and on fake tensors.
#pragma once

#include <cstdint>
#include <string>

#include "cases.h"

namespace symprof::testing {

/// What became of a case on fake tensors.
enum class FakeResult : std::uint8_t {
  same,         ///< Every input fake; dtypes and shapes equal those of the real results.
  with_values,  ///< As `same`, once all inputs but the first are constants of the graph.
  data,         ///< Refused: the shape of a result depends on data.
  failed,
};

struct CaseResult {
  bool values_pass = false;
  FakeResult fake = FakeResult::failed;
  std::string reason;  ///< Why it failed first; empty where nothing did.

  bool passes() const { return values_pass && fake != FakeResult::failed; }
};

CaseResult run_case(const BackendCase& test);

}  // namespace symprof::testing
