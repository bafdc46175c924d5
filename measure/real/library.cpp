#include "measure/real/library.h"

#include "measure/real/run_on_device.h"
#include "measure/real/time_kernels.h"

extern "C" const symprof::measure::Library* symprof_measure_library() {
  static const symprof::measure::Library library{.run_on_device = &symprof::measure::run_on_device,
                                                 .time_kernels = &symprof::measure::time_kernels};
  return &library;
}
