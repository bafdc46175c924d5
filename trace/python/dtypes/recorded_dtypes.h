// The dtype arguments of an export's operators: which of them are literals of the code, and which
// are the dtype that the model happened to have.
#pragma once

#include <optional>
#include <set>

#include "trace/graph/graph.h"
#include "trace/python/dtypes/function_calls.h"

namespace symprof::trace {

/// The floating-point dtypes of parameters, buffers and inputs, which a user can cast.
std::set<DType> model_dtypes(const Graph& graph);

/// Replaces the dtype arguments that are one of `own` because the model had it by `dtype`. An
/// export in float32 writes `x.to(y.dtype)` and `x.float()` alike, as a cast to float32. The rules:
///
/// - If the line of Python is known, it decides: a literal stays, another tensor's dtype is
///   replaced.
/// - Otherwise a cast that did nothing is replaced, and one from integers or from a narrower dtype
///   stays.
/// - Of two casts that did nothing in one function call, the second of which casts what was
///   computed from the first, the first stays: `(x.float() * y).to(x.dtype)` would not cast back
///   otherwise. `calls` has the function calls of a graph without lines; a line that calls a
///   function without lines counts as one call.
/// - So do casts of the same call that join that computation before the second cast: `(x.float() @
///   self.w.float()).to(x.dtype)`.
/// - A cast of a loss's first argument stays (`logits.float()`): code does not cast back before a
///   loss.
/// - Of new tensors with a dtype, sequences of numbers (arange, linspace) stay, others are
///   replaced.
/// - A cast that also gives a device (`x.to(y)`) is replaced.
/// - So are a cast and a sequence that go straight into a product with a parameter or a buffer: a
///   product has one dtype.
/// - A constant without elements is replaced, such as the one of `torch.tensor([], dtype=x.dtype)`.
///
/// Casts that no line decides are added to Graph::guessed_dtypes. Call it before any other cast
/// pass.
void follow_dtype(Graph& graph, const std::set<DType>& own, DType dtype,
                  const FunctionCalls& calls);

/// Casts a constant with a known spec to another floating-point dtype.
void cast_constant(Value& value, DType dtype);

}  // namespace symprof::trace
