// Evaluates the program's own formulas of kernel times on rows of a CSV, so that fits and
// judgements in Python have no second copy of them.
//
//   symprof_time_rows fit DEVICE.json CLASS ROWS.csv
//     prints the coefficients of the class (name, start, lowest, highest), an empty line, then for
//     each line of coefficients on standard input a line with the microseconds of all rows, at
//     "sizes" and coefficients a line with where residuals are looked up, at "roofline" one with
//     that.
//   symprof_time_rows fit_sheet DEVICE.json CLASS ROWS.csv
//     the same at the clock that the device's power sustains, as for coefficients of a data sheet.
//   symprof_time_rows judge DEVICE.json TIMES.json CLASS ROWS.csv [DATA_SHEET.json]
//     prints us,low,high,limit of each row with the coefficients, residuals and interval of TIMES,
//     and behind them what its width follows from: prior,deviation,scatter,launch. With the times
//     of a data sheet: for another board and campaign.
//   symprof_time_rows spread JUDGED.csv
//     prints the spread (deviation scatter launch) that fits judged rows, then for each row its
//     error in half widths of the spread of all other folds. Columns: error, prior, deviation,
//     scatter, launch, fold.
//   symprof_time_rows collectives LINKS.json COMPUTE_MAJOR ROWS.csv
//     prints us,low,high,algorithm,protocol,nccl_us of collectives; rows: kind,bytes,ranks,nodes.
//   symprof_time_rows kernels DEVICE.json CALLS.json
//     prints the kernels of each call, as JSON (operator_kernels.h).
//
// Columns of a CSV are members of the work (profile/time/kernel.h): m,n,k for products. A row may
// have been measured at `clock_percent` of the device's clock.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/device_spec.h"
#include "base/error.h"
#include "profile/time/collectives/links.h"
#include "profile/time/formula.h"
#include "profile/time/time_model.h"
#include "profile/time/width.h"
#include "scripts/time/operator_kernels.h"
#include "scripts/time/trace_rows.h"
#include "scripts/time/work_columns.h"

namespace {

using namespace symprof;
using namespace symprof::profile;

TimeClass class_called(const std::string& text) {
  for (int i = 0; i < time_classes; ++i)
    if (name(static_cast<TimeClass>(i)) == text) return static_cast<TimeClass>(i);
  throw Error(text, "is no class of kernels", "Compare with profile/time/kernel.h.");
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) result.push_back(cell);
  return result;
}

struct Row {
  Kernel kernel;
  std::int64_t clock_percent = 100;
};

std::vector<Row> read_rows(const std::string& path, TimeClass time_class) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = cells(line);
  const Formula& formula = formula_of(time_class);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = cells(line);
    Columns row;
    for (std::size_t i = 0; i < values.size() && i < header.size(); ++i)
      row[header[i]] = std::stoll(values[i]);
    const auto clock = row.find("clock_percent");
    rows.push_back({{time_class, work_of(formula, row)}, clock == row.end() ? 100 : clock->second});
  }
  return rows;
}

/// The device's models at the clocks of its rows.
class Models {
 public:
  /// `data_sheet`: times of other devices, which go with the clock that this one's power sustains.
  Models(DeviceSpec device, KernelTimes times, KernelTimes data_sheet)
      : device_(std::move(device)), times_(std::move(times)), sheet_(std::move(data_sheet)) {}

  TimeModel& of(const Row& row) {
    const auto found = models_.find(row.clock_percent);
    if (found != models_.end()) return found->second;
    const double share = static_cast<double>(row.clock_percent) / 100;
    DeviceSpec device = device_;
    if (device.clock_hz) *device.clock_hz *= share;
    for (auto& [dtype, rate] : device.flops_per_second) rate *= share;
    return models_.emplace(row.clock_percent, TimeModel(device, times_, sheet_, Floor::measured))
        .first->second;
  }

 private:
  DeviceSpec device_;
  KernelTimes times_, sheet_;
  std::map<std::int64_t, TimeModel> models_;
};

void print(const std::vector<double>& values) {
  fmt::print("{:.9g}\n", fmt::join(values, " "));
  std::fflush(stdout);
}

int fit(const DeviceSpec& device, TimeClass time_class, const std::vector<Row>& rows,
        TimeBasis basis) {
  Models models(device, {}, {});
  const Formula& formula = formula_of(time_class);
  for (const Coefficient& one : formula.coefficients)
    fmt::print("{} {} {} {}\n", one.name, one.start, one.lowest, one.highest);
  fmt::print("\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<double> values, coefficients;
    std::stringstream stream(line);
    if (line.starts_with("sizes")) {
      stream.ignore(sizeof("sizes"));
      for (double number; stream >> number;) coefficients.push_back(number);
      for (const Row& row : rows)
        for (const double size : models.of(row).residual_place(row.kernel, coefficients))
          values.push_back(size);
    } else if (line == "roofline") {
      for (const Row& row : rows) values.push_back(models.of(row).roofline_us(row.kernel));
    } else {
      for (double number; stream >> number;) coefficients.push_back(number);
      for (const Row& row : rows)
        values.push_back(models.of(row).formula_us(row.kernel, coefficients, basis));
    }
    print(values);
  }
  return 0;
}

int judge(const DeviceSpec& device, KernelTimes own, KernelTimes data_sheet,
          const std::vector<Row>& rows) {
  Models models(device, std::move(own), std::move(data_sheet));
  fmt::print("us,low,high,limit,prior,deviation,scatter,launch\n");
  for (const Row& row : rows) {
    TimeModel& model = models.of(row);
    const auto estimate = model.estimate(row.kernel);
    const Uncertainty uncertainty = model.uncertainty(row.kernel).value_or(Uncertainty());
    if (estimate)
      fmt::print("{:.6g},{:.6g},{:.6g},{},{:.6g},{:.6g},{:.6g},{:.6g}\n", estimate->us,
                 estimate->low_us, estimate->high_us, name(estimate->limit), uncertainty.prior,
                 uncertainty.deviation, uncertainty.scatter, uncertainty.launch);
    else
      fmt::print("nan,nan,nan,-\n");
  }
  return 0;
}

int spread(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<JudgedRow> rows;
  while (std::getline(file, line)) {
    std::vector<double> values;
    for (const std::string& cell : cells(line)) values.push_back(std::stod(cell));
    rows.push_back({values.at(0),
                    {values.at(1), values.at(2), values.at(3), values.at(4)},
                    static_cast<int>(values.at(5))});
  }
  const Spread found = fit_spread(rows);
  print({found.deviation, found.scatter, found.launch});
  print(errors_in_half_widths(rows));
  return 0;
}

CollectiveWork collective_of(const std::vector<std::string>& cells) {
  const auto kind = collective_called(cells.at(0));
  if (!kind) throw Error(cells[0], "is no kind of collective", "Compare with nccl.cpp.");
  return {*kind, std::stoll(cells.at(1)), std::stoi(cells.at(2)), std::stoi(cells.at(3))};
}

int collectives(const std::string& links, int compute_major, const std::string& rows) {
  const CollectiveModel model(load_links(links), compute_major);
  fmt::print("us,low,high,algorithm,protocol,nccl_us\n");
  std::ifstream file(rows);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const CollectiveWork work = collective_of(cells(line));
    const CollectiveTime time = model.time(work);
    fmt::print("{:.9g},{:.9g},{:.9g},{},{},{:.9g}\n", time.us, time.low_us, time.high_us,
               name(time.algorithm), name(time.protocol),
               nccl_choice(work, model.topology(work)).us);
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  const std::vector<std::string> given(arguments, arguments + count);
  if (count == 5 && (given[1] == "fit" || given[1] == "fit_sheet")) {
    const TimeClass time_class = class_called(given[3]);
    return fit(load_device(given[2]), time_class, read_rows(given[4], time_class),
               given[1] == "fit" ? TimeBasis::calibrated : TimeBasis::data_sheet);
  }
  if ((count == 6 || count == 7) && given[1] == "judge")
    return judge(load_device(given[2]), load_kernel_times(given[3]),
                 count == 7 ? load_kernel_times(given[6]) : KernelTimes(),
                 read_rows(given[5], class_called(given[4])));
  if (count == 3 && given[1] == "spread") return spread(given[2]);
  if (count == 5 && given[1] == "collectives")
    return collectives(given[2], std::stoi(given[3]), given[4]);
  if (count == 4 && given[1] == "kernels") {
    print_kernels(load_device(given[2]), given[3], std::cout);
    return 0;
  }
  if (count == 4 && given[1] == "trace") {
    symprof::print_trace_rows(given[2], given[3], std::cout);
    return 0;
  }
  std::cerr
      << "usage: symprof_time_rows fit DEVICE.json CLASS ROWS.csv\n"
         "       symprof_time_rows judge DEVICE.json TIMES.json CLASS ROWS.csv [DATA_SHEET.json]\n"
         "       symprof_time_rows spread JUDGED.csv\n"
         "       symprof_time_rows collectives LINKS.json COMPUTE_MAJOR ROWS.csv\n"
         "       symprof_time_rows kernels DEVICE.json CALLS.json\n"
         "       symprof_time_rows trace DEVICE TRACE.json.gz\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 2;
}
