#include "report/plan/rent.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

using plan::FitReport;
using plan::Job;
using plan::Rent;

/// "1.52 h": whole jobs take longer than the units of a step.
std::string format_span(double seconds) {
  if (seconds < 120) return format_time(seconds * 1e6);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

/// Four significant digits, for a currency of any size.
std::string format_money(double amount) {
  if (amount <= 0) return "0";
  const int digits = std::clamp(3 - static_cast<int>(std::floor(std::log10(amount))), 0, 6);
  return fmt::format("{:.{}f}", amount, digits);
}

/// A column that is shown if a device has a value in it.
struct RentColumn {
  std::string title;
  std::function<TextCell(const FitReport&, const Rent&)> cell;
};

TextCell unknown_cell() { return {"–", "", Emphasis::faint}; }

TextCell in_time_cell(const Rent& rent) {
  if (!rent.in_time) return unknown_cell();
  const bool is_in_time = *rent.in_time == plan::InTime::yes;
  const bool is_late = *rent.in_time == plan::InTime::no;
  return {std::string(name(*rent.in_time)), "",
          is_in_time ? Emphasis::strong
          : is_late  ? Emphasis::alert
                     : Emphasis::normal};
}

/// With "> " or "< " where the step has calls without a time.
TextCell bounded(TextCell cell, const FitReport& report, std::string_view sign) {
  if (report.time && report.time->unknown_calls > 0)
    cell.text = fmt::format("{} {}", sign, cell.text);
  return cell;
}

TextCell rate_cell(const FitReport& report, const std::optional<double>& per_second) {
  if (!per_second) return unknown_cell();
  const Quantity quantity = scale_count(std::llround(*per_second), Precision::significant);
  return bounded({quantity.number, quantity.unit}, report, "<");
}

TextCell step_cell(const FitReport& report, double StepTime::*value) {
  if (!report.time) return unknown_cell();
  const Quantity quantity =
      scale_time(std::llround(*report.time.*value * 1000), Precision::significant);
  return bounded({quantity.number, quantity.unit}, report, ">");
}

TextCell calibrated_cell(const FitReport& report) {
  if (!report.time || report.time->busy_us() <= 0) return unknown_cell();
  return {fmt::format(
      "{:.0f} %", 100 * std::max(1 - report.time->data_sheet_us / report.time->busy_us(), 0.0))};
}

bool any_has(const std::vector<FitReport>& reports, std::optional<std::int64_t> StepTime::*value) {
  return std::ranges::any_of(
      reports, [&](const FitReport& report) { return report.time && *report.time.*value; });
}

void add_step_columns(std::vector<RentColumn>& columns, const std::vector<FitReport>& reports) {
  if (any_has(reports, &StepTime::samples))
    columns.push_back({"Samples a step", [](const FitReport& report, const Rent&) {
                         return report.time && report.time->samples
                                    ? TextCell{group_digits(*report.time->samples)}
                                    : unknown_cell();
                       }});
  for (const auto& [title, value] : {std::pair{"Step", &StepTime::step_us},
                                     {"from", &StepTime::low_us},
                                     {"to", &StepTime::high_us}})
    columns.push_back({title, [value = value](const FitReport& report, const Rent&) {
                         return step_cell(report, value);
                       }});
  if (any_has(reports, &StepTime::samples))
    columns.push_back({"Samples/s", [](const FitReport& report, const Rent& rent) {
                         return rate_cell(report, rent.samples_per_second);
                       }});
  if (any_has(reports, &StepTime::tokens))
    columns.push_back({"Tokens/s", [](const FitReport& report, const Rent& rent) {
                         return rate_cell(report, rent.tokens_per_second);
                       }});
  columns.push_back(
      {"Calibrated", [](const FitReport& report, const Rent&) { return calibrated_cell(report); }});
}

void add_price_columns(std::vector<RentColumn>& columns, const std::vector<FitReport>& reports,
                       const Job& job) {
  const auto add = [&](std::string title, std::optional<double> Rent::*amount) {
    columns.push_back({std::move(title), [amount](const FitReport& report, const Rent& rent) {
                         const std::optional<double>& money = rent.*amount;
                         if (!money) return unknown_cell();
                         return bounded({format_money(*money)}, report, ">");
                       }});
  };
  columns.push_back({"An hour", [](const FitReport&, const Rent& rent) {
                       return rent.price_per_hour ? TextCell{format_money(*rent.price_per_hour)}
                                                  : unknown_cell();
                     }});
  if (any_has(reports, &StepTime::tokens))
    add("Million tokens", &Rent::cost_per_million_tokens);
  else
    add("Million samples", &Rent::cost_per_million_samples);
  if (job.samples) add("Job", &Rent::job_cost);
}

std::vector<RentColumn> rent_columns(const std::vector<FitReport>& reports, const Job& job) {
  std::vector<RentColumn> columns;
  add_step_columns(columns, reports);
  if (job.prices) add_price_columns(columns, reports, job);
  if (job.samples)
    columns.push_back({"Job takes", [](const FitReport& report, const Rent& rent) {
                         if (!rent.job_seconds) return unknown_cell();
                         return bounded({format_span(*rent.job_seconds)}, report, ">");
                       }});
  if (job.deadline_seconds)
    columns.push_back(
        {"In time", [](const FitReport&, const Rent& rent) { return in_time_cell(rent); }});
  return columns;
}

TextTable rent_table(const std::vector<FitReport>& reports, const Job& job, Density density) {
  const std::vector<RentColumn> columns = rent_columns(reports, job);
  TextTable table;
  table.columns.push_back({"Device"});
  for (const RentColumn& column : columns) table.columns.push_back({column.title, Align::number});
  for (const FitReport& report : reports) {
    const Rent rent = rent_of(report, job);
    TextRow row;
    row.cells.push_back(
        {std::string(density == Density::roomy ? name(report.device) : report.device.name)});
    for (const RentColumn& column : columns) row.cells.push_back(column.cell(report, rent));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// "10,000,000 samples in 3.0 d"
std::string job_text(const Job& job) {
  if (!job.samples) return {};
  std::string text = group_digits(*job.samples) + " samples";
  if (job.deadline_seconds) text += " in " + format_span(*job.deadline_seconds);
  return text;
}

std::string rent_text(const FitReport& report, const Job& job) {
  const Rent rent = rent_of(report, job);
  std::string text(name(report.device));
  if (rent.job_seconds)
    text += fmt::format(", {} ({} to {} in nine of ten)", format_span(*rent.job_seconds),
                        format_span(*rent.job_low_seconds), format_span(*rent.job_high_seconds));
  if (!job.prices) return text;
  const std::optional<double>& cost = rent.job_cost ? rent.job_cost : rent.cost_per_million_samples;
  return text + fmt::format(", {} {}{}", format_money(*cost), job.prices->currency,
                            rent.job_cost ? "" : " for a million samples");
}

/// The best device, or why there is none.
std::string best_text(const std::vector<FitReport>& reports, const Job& job) {
  if (const auto best = best_device(reports, job)) return rent_text(reports[*best], job);
  const auto fastest = fastest_device(reports);
  if (!fastest) return "none: on none of them has the whole step a time";
  if (!job.deadline_seconds) return "none has a price";
  Job without_prices = job;
  without_prices.prices.reset();
  if (best_device(reports, without_prices)) return "none that does it in time has a price";
  return "none does it in time; the fastest is " + rent_text(reports[*fastest], without_prices);
}

std::string names_without_price(const std::vector<FitReport>& reports, const Job& job) {
  std::string names;
  for (const FitReport& report : reports)
    if (!rent_of(report, job).price_per_hour)
      names += (names.empty() ? "" : ", ") + report.device.name;
  return names;
}

void write_lines(fmt::memory_buffer& out, const std::vector<FitReport>& reports, const Job& job,
                 const Layout& layout) {
  if (job.samples) write_line(out, "job", job_text(job), layout);
  if (job.is_asked())
    write_line(out, job.prices ? "cheapest" : "fastest", best_text(reports, job), layout);
  if (job.prices) {
    write_line(out, "prices", job.prices->currency + ", as the file gives them", layout);
    if (const std::string names = names_without_price(reports, job); !names.empty())
      write_line(out, "no price", "for " + names, layout);
  }
  const auto is_more = [](const FitReport& report) {
    return report.time && report.time->unknown_calls > 0;
  };
  std::set<std::string> ops;
  std::vector<std::string> devices;
  for (const FitReport& report : reports) {
    if (!is_more(report)) continue;
    devices.push_back(report.device.name);
    ops.insert(report.time->unknown_ops.begin(), report.time->unknown_ops.end());
  }
  if (devices.empty()) return;
  const std::string text =
      fmt::format("{} on {}: steps take longer than is said, and cost more; none of them is taken",
                  fmt::join(ops, ", "), fmt::join(devices, ", "));
  write_line(out, "not timed", emphasize(text, Emphasis::alert, layout.color), layout);
}

/// Microseconds with three decimals.
double rounded(double us) { return std::round(us * 1e3) / 1e3; }

}  // namespace

void write_rents(fmt::memory_buffer& out, const std::vector<FitReport>& reports, const Job& job,
                 const Layout& layout) {
  const auto has_time = [](const FitReport& report) { return report.time.has_value(); };
  if (!job.is_asked() && std::ranges::none_of(reports, has_time)) return;
  TextTable table = rent_table(reports, job, Density::roomy);
  if (layout.width && natural_width(table) > *layout.width)
    table = rent_table(reports, job, Density::tight);
  out.push_back('\n');
  write(out, table, layout);
  out.push_back('\n');
  write_lines(out, reports, job, layout);
}

void write_job(JsonWriter& json, const std::vector<FitReport>& reports, const Job& job) {
  json.key("job");
  if (!job.is_asked()) return json.null();
  json.begin_object();
  json.member("samples", job.samples);
  json.member("deadline_seconds", job.deadline_seconds);
  json.key("currency");
  job.prices ? json.value(job.prices->currency) : json.null();
  json.key("best_device");
  const auto best = best_device(reports, job);
  best ? json.value(reports[*best].device.name) : json.null();
  json.end_object();
}

void write_rent(JsonWriter& json, const FitReport& report, const Job& job) {
  json.key("time");
  if (!report.time) {
    json.null();
  } else {
    const StepTime& time = *report.time;
    json.begin_object();
    json.member("launch", name(time.launch));
    json.member("step_time_us", rounded(time.step_us));
    json.member("step_time_low_us", rounded(time.low_us));
    json.member("step_time_high_us", rounded(time.high_us));
    json.member("data_sheet_time_us", rounded(time.data_sheet_us));
    json.member("samples", time.samples);
    json.member("tokens", time.tokens);
    json.member("unknown_calls", time.unknown_calls);
    json.end_object();
  }
  const Rent rent = rent_of(report, job);
  json.key("rent");
  json.begin_object();
  json.member("samples_per_second", rent.samples_per_second);
  json.member("tokens_per_second", rent.tokens_per_second);
  json.member("price_per_hour", rent.price_per_hour);
  json.member("cost_per_million_samples", rent.cost_per_million_samples);
  json.member("cost_per_million_tokens", rent.cost_per_million_tokens);
  json.member("job_seconds", rent.job_seconds);
  json.member("job_low_seconds", rent.job_low_seconds);
  json.member("job_high_seconds", rent.job_high_seconds);
  json.member("job_cost", rent.job_cost);
  json.key("in_time");
  rent.in_time ? json.value(name(*rent.in_time)) : json.null();
  json.end_object();
}

}  // namespace symprof::report
