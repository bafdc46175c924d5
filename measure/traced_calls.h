// The operators of a trace with the times of their kernels, for a calibration.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/trace.h"
#include "record/operator_call.h"

namespace symprof::measure {

/// Equal calls of an operator, and for each the sum of its kernels' times.
struct TracedCall {
  OperatorCall call;
  std::vector<double> us;
  bool uses_tf32 = false;  ///< By the names of its kernels: traces do not tell the switch.
};

/// Where the device's time went; microseconds.
struct TracedTime {
  double total = 0;
  double graph = 0;         ///< Kernels of CUDA graphs: none has an operator of its own.
  double no_operator = 0;   ///< Without a call, an operator, or one with a rule.
  double overlapped = 0;    ///< Other work ran beside it, which slows both.
  double no_arguments = 0;  ///< The trace does not tell types, sizes, strides and numbers.
};

struct TracedCalls {
  std::vector<TracedCall> calls;
  TracedTime time;
};

/// A kernel belongs to the outermost operator around its launch for which `has_rule`: the call that
/// PyTorch makes below autograd, as a profile counts it.
TracedCalls traced_calls(const Trace& trace,
                         const std::function<bool(std::string_view op)>& has_rule);

}  // namespace symprof::measure
