// Costs of renting devices, side by side.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "plan/rent.h"
#include "report/write/json_writer.h"
#include "report/write/layout.h"

namespace symprof::report {

/// A row for each device: the step's time, rates, prices, the job; then the best device. Writes
/// nothing if no time was requested.
void write_rents(fmt::memory_buffer& out, const std::vector<plan::FitReport>& reports,
                 const plan::Job& job, const Layout& layout);

/// The member "job": the request, and the best device.
void write_job(JsonWriter& json, const std::vector<plan::FitReport>& reports, const plan::Job& job);
/// The members "time" and "rent" of one device.
void write_rent(JsonWriter& json, const plan::FitReport& report, const plan::Job& job);

}  // namespace symprof::report
