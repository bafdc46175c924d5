#include "scripts/time/trace_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "profile/time/formula.h"
#include "profile/time/time_model.h"
#include "scripts/time/work_columns.h"
#include "session/devices.h"
#include "session/paths.h"
#include "session/traced_kernels.h"

namespace symprof {

void print_trace_rows(const std::string& device, const std::string& trace, std::ostream& out) {
  const DeviceSpec spec = find_device(device);
  const TracedKernels traced = kernels_of_traces(read_traces({trace}), spec);
  profile::TimeModel model = profile::time_model_of(spec, data_sheet_path());
  out << "class;kind;calls;us;estimate;low;high;work\n";
  for (std::size_t i = 0; i < traced.calls.size(); ++i) {
    const auto& [kernel, us] = traced.calibration.kernels[i];
    const auto estimate = model.estimate(kernel);
    if (!estimate) continue;
    out << fmt::format("{};{};{};{:.6g};{:.6g};{:.6g};{:.6g};{}\n",
                       profile::name(kernel.time_class), profile::kind_of(kernel), traced.calls[i],
                       us, estimate->us, estimate->low_us, estimate->high_us,
                       nlohmann::json(profile::columns_of(kernel.work)).dump());
  }
}

}  // namespace symprof
