#include "measure/real/library.h"

#include "measure/real/leaves.h"
#include "measure/real/run_on_device.h"
#include "measure/real/time_kernels.h"
#include "measure/real/values.h"

extern "C" const symprof::measure::Library* symprof_measure_library() {
  static const symprof::measure::Library library{
      .run_on_device = &symprof::measure::run_on_device,
      .time_kernels = &symprof::measure::time_kernels,
      .values_of = &symprof::measure::real::values_of,
      .stream_values = &symprof::measure::real::stream_values,
      .bounds_of_inputs = &symprof::measure::real::bounds_of_inputs};
  return &library;
}
