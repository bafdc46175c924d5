#include "shape/library.h"

#include "shape/batch/find_plan.h"
#include "shape/eager/run_calls.h"
#include "shape/lowering/lowering.h"
#include "shape/step/propagate.h"

extern "C" const symprof::shape::Library* symprof_torch_library() {
  static const symprof::shape::Library library{
      .propagate = &symprof::shape::propagate,
      .load_torchscript = &symprof::trace::load_torchscript,
      .find_batch_plan = &symprof::shape::find_batch_plan,
      .lowered_operators = &symprof::lowering::known_operators,
      .load_torchscript_weights = &symprof::trace::load_torchscript_weights,
      .run_calls = &symprof::shape::run_calls,
  };
  return &library;
}
