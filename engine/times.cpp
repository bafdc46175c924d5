#include "engine/times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "engine/content.h"
#include "engine/layer_fields.h"
#include "engine/layer_kinds.h"
#include "engine/log_lines.h"

namespace symprof::engine {
namespace {

std::optional<double> number_of(const Field& record, std::string_view name) {
  const Field* field = record.find(name);
  return field ? number_in(field->text) : std::nullopt;
}

/// Removes and returns a number at the start of `text`, with leading blanks; empty if none.
std::optional<double> take_number(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || rest != word.data() + word.size()) return std::nullopt;
  text.remove_prefix(end);
  return value;
}

/// The same at the end of `text`.
std::optional<double> take_last_number(std::string_view& text) {
  const std::string_view whole = text.substr(0, text.find_last_not_of(' ') + 1);
  const std::size_t begin = whole.rfind(' ') + 1;
  std::string_view word = whole.substr(begin);
  const std::optional<double> value = take_number(word);
  if (value) text = whole.substr(0, begin);
  return value;
}

/// The columns of a table, as its title line has them.
struct TableForm {
  bool name_first = false, has_median = false;
};

std::optional<TableForm> table_form(std::string_view title) {
  if (title.find("Layer") == std::string_view::npos || title.find("Time") == std::string_view::npos)
    return std::nullopt;
  return TableForm{.name_first = title.starts_with("Layer"),
                   .has_median = title.find("Median") != std::string_view::npos};
}

/// Parses a row of a table; empty if `row` is none.
std::optional<LayerTime> read_row(std::string_view row, TableForm form) {
  const std::size_t numbers = form.has_median ? 4 : 3;  // Time, average, median, share.
  std::vector<double> values;
  values.reserve(numbers);
  while (values.size() < numbers) {
    const auto value = form.name_first ? take_last_number(row) : take_number(row);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  if (form.name_first) std::ranges::reverse(values);
  LayerTime time{.name = std::string(trimmed(row)), .average_ms = values[1], .total_ms = values[0]};
  if (form.has_median) time.median_ms = values[2];
  // Averages have only four decimals, imprecise for short layers.
  return time;
}

/// The number of runs in "=== Profile (7477 iterations ) ==="; empty for another line.
std::optional<std::int64_t> profile_title(std::string_view line) {
  constexpr std::string_view words = "=== Profile (";
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t runs = 0;
  const std::string_view digits = line.substr(at + words.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), runs);
  return runs;
}

/// A line of a custom IProfiler: "Timing: 37.472us -> name".
std::optional<LayerTime> read_callback(std::string_view line) {
  constexpr std::string_view word = "Timing: ", arrow = "us -> ";
  const std::size_t at = line.find(word), unit = line.find(arrow);
  if (at == std::string_view::npos || unit == std::string_view::npos || unit < at)
    return std::nullopt;
  const auto value = number_in(line.substr(at + word.size(), unit - at - word.size()));
  if (!value) return std::nullopt;
  const std::string name(trimmed(line.substr(unit + arrow.size())));
  return LayerTime{.name = name, .average_ms = *value / 1e3, .total_ms = *value / 1e3};
}

/// Recomputes averages from totals and runs, which are printed with more digits.
void refine_averages(Times& times) {
  if (times.runs <= 0) return;
  for (LayerTime& layer : times.layers)
    layer.average_ms = layer.total_ms / static_cast<double>(times.runs);
}

std::string without_profile(const std::string& name) {
  return layer_of({.kind = Field::Kind::text, .text = name}).name;
}

void join_by_position(const std::vector<Layer>& layers, const Times& times, JoinedTimes& joined) {
  std::size_t others = 0, first = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    joined.average_ms[i] = times.layers[i].average_ms;
    if (layers[i].name != without_profile(times.layers[i].name) && others++ == 0) first = i;
  }
  if (others)
    joined.warnings.push_back(fmt::format(
        "times are joined to layers by position, and {} of {} names differ: layer {} is '{}', its "
        "time is of '{}'",
        others, layers.size(), first, layers[first].name, times.layers[first].name));
}

void join_by_name(const std::vector<Layer>& layers, const Times& times, JoinedTimes& joined) {
  std::unordered_map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = layers.size(); i-- > 0;) places[layers[i].name].push_back(i);
  std::size_t lost = 0;
  for (const LayerTime& time : times.layers) {
    const auto found = places.find(without_profile(time.name));
    if (found == places.end() || found->second.empty()) {
      ++lost;
      continue;
    }
    joined.average_ms[found->second.back()] = time.average_ms;
    found->second.pop_back();
  }
  // Tables omit layers without device work.
  std::size_t untimed = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    untimed += !joined.average_ms[i] && has_kernel(layers[i]);
  if (lost || untimed)
    joined.warnings.push_back(fmt::format(
        "the profile has {} records and the engine {} layers, so they are joined by name: {} "
        "records have no layer, and {} layers with a kernel no time",
        times.layers.size(), layers.size(), lost, untimed));
}

}  // namespace

bool is_profile(const Field& field) {
  if (field.kind != Field::Kind::list || field.items.empty()) return false;
  const Field& first = field.items.front();
  return first.find("timeMs") || first.find("averageMs") ||
         (first.find("count") && !first.find("Name") && !first.find("name"));
}

Times times_of(const Field& profile) {
  Times times;
  times.layers.reserve(profile.items.size());
  for (const Field& record : profile.items) {
    const Field* name = record.find("name");
    if (!name) {
      if (const auto runs = number_of(record, "count"); runs && *runs > 0 && *runs < 1e15)
        times.runs = static_cast<std::int64_t>(*runs);
      continue;
    }
    LayerTime time{.name = name->text,
                   .average_ms = number_of(record, "averageMs"),
                   .median_ms = number_of(record, "medianMs"),
                   .total_ms = number_of(record, "timeMs").value_or(0)};
    if (!time.average_ms && times.runs > 0)
      time.average_ms = time.total_ms / static_cast<double>(times.runs);
    times.layers.push_back(std::move(time));
  }
  return times;
}

std::optional<Times> times_in(std::string_view log) {
  std::optional<Times> table, callbacks;
  std::optional<TableForm> form;
  bool in_table = false;
  for_each_line(log, [&](std::string_view whole, std::size_t number) {
    const std::string_view line = without_log_prefix(whole);
    if (const auto runs = profile_title(line)) {
      table = Times{.runs = *runs};
      in_table = true;
      form.reset();
      return;
    }
    if (in_table) {
      if (!form) {
        form = table_form(trimmed(line));
        return;
      }
      if (trimmed(line).empty()) in_table = false;
      std::optional<LayerTime> row = read_row(line, *form);
      if (row && row->name == "Total")
        in_table = false;
      else if (row)
        table->layers.push_back(*std::move(row));
      else if (in_table)
        table->warnings.push_back(fmt::format("line {}: this row of the profile is cut", number));
    } else if (auto time = read_callback(line)) {
      if (!callbacks) callbacks.emplace();
      callbacks->layers.push_back(*std::move(time));
    }
  });
  if (!table) return callbacks;
  refine_averages(*table);
  return table;
}

Times read_times(std::string_view content, const std::string& path) {
  std::optional<Times> times;
  if (looks_like_json(content)) {
    const FieldReading reading = read_fields(content);
    if (is_profile(reading.field)) times = times_of(reading.field);
    if (times) times->warnings = reading.problems;
  } else {
    times = times_in(content);
  }
  if (!times || times->layers.empty())
    throw Error(path, "has no times of layers",
                "Give what trtexec writes with exportProfile, or a log with its profile.");
  return *std::move(times);
}

Times read_times(const std::string& path) { return read_times(content_of_file(path), path); }

JoinedTimes join(const std::vector<Layer>& layers, const Times& times) {
  JoinedTimes joined;
  joined.average_ms.resize(layers.size());
  for (const LayerTime& time : times.layers) joined.sum_ms += time.average_ms.value_or(0);
  if (times.layers.size() == layers.size())
    join_by_position(layers, times, joined);
  else
    join_by_name(layers, times, joined);
  return joined;
}

}  // namespace symprof::engine
