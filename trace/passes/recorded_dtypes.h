// The dtypes that the operators of an export name: which of them are the model's own dtype, written
// out because the exporter saw no more than that.
#pragma once

#include <optional>
#include <set>

#include "trace/graph/graph.h"
#include "trace/passes/function_calls.h"

namespace symprof::trace {

/// The floating-point dtypes of what a user can cast: parameters, buffers and inputs.
std::set<DType> model_dtypes(const Graph& graph);

/// Gives `dtype` to the operators that name one of `own` because the model has it. An export in
/// float32 writes `x.to(y.dtype)` and `x.float()` alike, as a cast to float32:
///
/// - where the line of Python is known, it tells: what it names stays, what it takes from another
///   tensor follows;
/// - else a cast that did nothing follows, and one from integers or from a narrower dtype stays;
/// - but of two casts that did nothing, in one call of a function, of which the second casts what
///   was computed from the first, the first stays: `(x.float() * y).to(x.dtype)` would not cast
///   back otherwise. `calls` has the calls of a graph without lines; where the line is known that
///   calls a function without lines, that call is taken for it;
/// - and so do casts of the same call that meet what it computes from the first one, up to the
///   second: `(x.float() @ self.w.float()).to(x.dtype)`;
/// - and a cast of what a loss is given first stays (`logits.float()`): nobody casts back before
/// it;
/// - of new tensors with a dtype, sequences of numbers (arange, linspace) stay, others follow;
/// - a cast that is given a device as well (`x.to(y)`) follows;
/// - so do a cast and a sequence that go straight into a product with a parameter or a buffer: a
///   product is of one dtype;
/// - a constant without numbers follows, as what `torch.tensor([], dtype=x.dtype)` begins.
///
/// What no line tells is put into Graph::guessed_dtypes. Nothing has been cast yet.
void follow_dtype(Graph& graph, const std::set<DType>& own, DType dtype,
                  const FunctionCalls& calls);

/// Gives a constant with a known spec another floating-point dtype.
void cast_constant(Value& value, DType dtype);

}  // namespace symprof::trace
