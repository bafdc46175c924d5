#include "report/measure/calibration.h"

#include <cmath>

#include "profile/time/kernel.h"
#include "report/profile/measured_step.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

/// "12.50 us" as a number and its unit.
TextCell duration_cell(double us) {
  const std::string text = format_time(us);
  const std::size_t blank = text.find(' ');
  return {text.substr(0, blank), blank == std::string::npos ? "" : text.substr(blank + 1)};
}

}  // namespace

void write_calibration(fmt::memory_buffer& out, const CalibratedDevice& device,
                       const measure::DeviceFacts& facts, const Layout& layout) {
  TextTable table;
  table.columns = {{"Class of kernels"},
                   {"Measured", Align::number},
                   {"Shortest", Align::number},
                   {"Longest", Align::number},
                   {"Interval", Align::number}};
  std::size_t kernels = 0;
  for (const FittedClass& one : device.fitted) {
    kernels += one.kernels;
    table.rows.push_back({{{std::string(profile::name(one.time_class))},
                           {fmt::format("{}", one.kernels)},
                           duration_cell(one.shortest_us),
                           duration_cell(one.longest_us),
                           {fmt::format("±{:.0f}", std::expm1(one.half_width) * 100), "%"}}});
  }
  write(out, table, layout);
  fmt::format_to(std::back_inserter(out), "\n{} kernels on {}", kernels, facts.processor);
  if (facts.host_call_us)
    fmt::format_to(std::back_inserter(out), "; the host takes {} for a call more",
                   format_time(*facts.host_call_us));
  fmt::format_to(std::back_inserter(out), "\n");
  if (const auto others = others_text(facts.others_share))
    fmt::format_to(std::back_inserter(out), "{}\n", *others);
  for (const profile::TimeClass one : device.left_out)
    fmt::format_to(std::back_inserter(out), "not fitted: {} has too few measurements\n",
                   profile::name(one));
}

void write_traced_time(fmt::memory_buffer& out, const TracedKernels& traced) {
  const measure::TracedTime& time = traced.time;
  const std::pair<double, const char*> parts[] = {
      {traced.used_us, "kernels that were fitted"},
      {traced.several_classes_us, "operators with kernels of several classes"},
      {time.no_arguments, "operators without shapes, types, strides or numbers"},
      {time.overlapped, "kernels that ran beside others"},
      {time.graph, "CUDA graphs, which hide operators"},
      {time.no_operator, "no operator with a known cost"},
      {traced.other_us, "copies from and to the host, and operators that cannot be replayed"},
  };
  fmt::format_to(std::back_inserter(out), "{} of kernels:\n", format_time(time.total));
  for (const auto& [us, words] : parts)
    if (us > 0)
      fmt::format_to(std::back_inserter(out), "  {:5.1f} %  {}\n", us / time.total * 100, words);
}

}  // namespace symprof::report
