#include "shape/library.h"

#include "shape/propagate.h"
#include "trace/onnx/lowering/lowering.h"

extern "C" const symprof::shape::Library* symprof_torch_library() {
  static const symprof::shape::Library library{
      .propagate = &symprof::shape::propagate,
      .load_torchscript = &symprof::trace::load_torchscript,
      .lowered_operators = &symprof::trace::onnx::known_operators,
  };
  return &library;
}
