#include "session/read_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "base/error.h"
#include "session/read_text.h"
#include "trace/numpy/array_file.h"

namespace symprof::settings {
namespace {

constexpr std::int64_t most_samples = 100'000'000;
constexpr std::int64_t largest_size = std::int64_t{1} << 40;
constexpr auto lognormal_form = "lognormal:median=200,sigma=0.7,max=1024,count=2000";
constexpr auto csv_form =
    "Write a first line that names the columns: length, or length,count (a histogram), or "
    "batch,length (the shapes of batches).";

std::int64_t checked_size(std::int64_t size, const std::string& where) {
  if (size < 1 || size > largest_size)
    throw Error(where, fmt::format("{} is no length of a sample.", size),
                "Give whole numbers of at least 1.");
  return size;
}

void add_counted(RunData& data, std::int64_t length, std::int64_t count, const std::string& where) {
  if (count < 0 || count > most_samples - static_cast<std::int64_t>(data.lengths.size()))
    throw Error(where, fmt::format("{} is no count of samples.", count),
                fmt::format("A run has at most {} samples.", most_samples));
  data.lengths.insert(data.lengths.end(), static_cast<std::size_t>(count),
                      checked_size(length, where));
}

plan::Batch shape_of(std::int64_t samples, std::int64_t length, const std::string& where) {
  checked_size(samples, where);
  checked_size(length, where);
  return {.samples = samples, .length = length, .tokens = samples * length};
}

std::int64_t read_cell(const std::string& cell, const std::string& where) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (code != std::errc() || end != cell.data() + cell.size())
    throw Error(where, fmt::format("'{}' is no whole number.", cell), csv_form);
  return number;
}

enum class Columns : std::uint8_t { lengths, histogram, shapes };

Columns read_header(const std::string& line, const std::string& path) {
  const std::vector<std::string> names = split_list(line);
  if (names == std::vector<std::string>{"length"}) return Columns::lengths;
  if (names == std::vector<std::string>{"length", "count"}) return Columns::histogram;
  if (names == std::vector<std::string>{"batch", "length"}) return Columns::shapes;
  throw Error(path + ":1", fmt::format("the columns are '{}'.", line), csv_form);
}

RunData read_csv(const std::string& path, std::istream& file) {
  RunData data;
  std::string line;
  const auto next = [&] {
    const bool is_read = static_cast<bool>(std::getline(file, line));
    if (is_read && line.ends_with('\r')) line.pop_back();
    return is_read;
  };
  const Columns columns = read_header(next() ? line : "", path);
  for (int number = 2; next(); ++number) {
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const std::vector<std::string> cells = split_list(line);
    if (cells.size() != (columns == Columns::lengths ? 1u : 2u))
      throw Error(where, fmt::format("'{}' has not the columns of the first line.", line),
                  csv_form);
    const std::int64_t first = read_cell(cells.front(), where);
    if (columns == Columns::lengths) data.lengths.push_back(checked_size(first, where));
    if (columns == Columns::histogram)
      add_counted(data, first, read_cell(cells.back(), where), where);
    if (columns == Columns::shapes)
      data.shapes.push_back(shape_of(first, read_cell(cells.back(), where), where));
  }
  return data;
}

constexpr auto json_form =
    R"(Write a list of lengths ([12, 40]), of batches and lengths ([[8, 40], [8, 64]]), or a histogram ({"12": 300}).)";

std::int64_t integer_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_number_integer()) throw Error(path, "has something that is no length.", json_form);
  return json.get<std::int64_t>();
}

RunData read_json(const std::string& path, std::istream& file) {
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() && !json.is_object())
    throw Error(path, "is neither a list nor an object of JSON.", json_form);
  RunData data;
  for (const auto& [key, item] : json.items()) {
    if (json.is_object())
      add_counted(data, read_cell(key, path), integer_of(item, path), path);
    else if (!item.is_array())
      data.lengths.push_back(checked_size(integer_of(item, path), path));
    else if (item.size() == 2)
      data.shapes.push_back(shape_of(integer_of(item[0], path), integer_of(item[1], path), path));
    else
      throw Error(path, "has a list that is no pair of a batch and a length.", json_form);
  }
  return data;
}

template <class Number>
std::vector<std::int64_t> numbers_of(const trace::numpy::Array& array) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at + sizeof(Number) <= array.data.size(); at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, array.data.data() + at, sizeof(Number));
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

RunData read_npy(const std::string& path) {
  const trace::numpy::Array array = trace::numpy::read_array(path, 2 * most_samples);
  const std::vector<std::int64_t>& sizes = array.spec.sizes;
  const bool has_shapes = sizes.size() == 2 && sizes[1] == 2;
  if (sizes.size() != 1 && !has_shapes)
    throw Error(path, "is neither a list of lengths nor rows of a batch and a length.",
                "Save an array of one axis, or of rows of two numbers.");
  std::vector<std::int64_t> numbers;
  if (array.spec.dtype == DType::int64)
    numbers = numbers_of<std::int64_t>(array);
  else if (array.spec.dtype == DType::int32)
    numbers = numbers_of<std::int32_t>(array);
  else if (array.spec.dtype == DType::int16)
    numbers = numbers_of<std::int16_t>(array);
  else
    throw Error(path, fmt::format("has numbers of {}.", name(array.spec.dtype)),
                "Save int64, int32 or int16.");
  RunData data;
  for (std::size_t i = 0; has_shapes && i < numbers.size(); i += 2)
    data.shapes.push_back(shape_of(numbers[i], numbers[i + 1], path));
  for (std::size_t i = 0; !has_shapes && i < numbers.size(); ++i)
    data.lengths.push_back(checked_size(numbers[i], path));
  return data;
}

[[noreturn]] void refuse_lognormal(const std::string& given, const std::string& problem) {
  throw Error(SettingRef{"lengths", given}, problem, fmt::format("Write {}.", lognormal_form));
}

double positive_number(const std::string& given, const std::string& text) {
  std::istringstream stream(text);
  double number = 0;
  if (!(stream >> number) || !stream.eof() || !std::isfinite(number) || number <= 0)
    refuse_lognormal(given, fmt::format("'{}' is no number above 0.", text));
  return number;
}

RunData read_lognormal(const std::string& given, const std::string& parts) {
  plan::Lognormal read;
  for (const std::string& part : split_list(parts)) {
    const std::size_t at = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, at), value = part.substr(std::min(at + 1, part.size()));
    if (name == "median")
      read.median = positive_number(given, value);
    else if (name == "sigma")
      read.sigma = positive_number(given, value);
    else if (name == "max")
      read.max = parse_amount(SettingRef{"lengths", given}, value);
    else if (name == "count")
      read.count = parse_amount(SettingRef{"lengths", given}, value);
    else if (name == "seed")
      read.seed = static_cast<std::uint64_t>(parse_count(SettingRef{"lengths", given}, value, 0));
    else
      refuse_lognormal(given, fmt::format("'{}' is not known.", name));
  }
  if (read.median == 0 || read.sigma == 0 || read.max == 0 || read.count == 0)
    refuse_lognormal(given, "median, sigma, max or count is missing.");
  if (read.count > most_samples || read.max > largest_size)
    refuse_lognormal(given, fmt::format("a run has at most {} samples.", most_samples));
  return {.lengths = plan::lognormal_lengths(read), .shapes = {}};
}

RunData read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file || std::filesystem::is_directory(path))
    throw Error(SettingRef{"lengths", path}, "there is no such file.",
                fmt::format("Name a .csv, .json or .npy file, or write {}.", lognormal_form));
  if (path.ends_with(".csv")) return read_csv(path, file);
  if (path.ends_with(".json")) return read_json(path, file);
  if (path.ends_with(".npy")) return read_npy(path);
  throw Error(SettingRef{"lengths", path}, "its ending says no format.",
              "Name a .csv, .json or .npy file.");
}

}  // namespace

RunData read_lengths(const std::string& given) {
  constexpr std::string_view drawn = "lognormal:";
  RunData data = given.starts_with(drawn) ? read_lognormal(given, given.substr(drawn.size()))
                                          : read_file(given);
  if (data.lengths.empty() == data.shapes.empty())
    throw Error(SettingRef{"lengths", given},
                data.lengths.empty() ? "has no samples." : "has both lengths and shapes.",
                "Give lengths, or shapes.");
  return data;
}

void read_batch_by(plan::BatchRule& rule, const std::string& given) {
  const std::size_t at = std::min(given.find('='), given.size());
  static constexpr Named<plan::BatchLimit> limits[] = {{"samples", plan::BatchLimit::samples},
                                                       {"tokens", plan::BatchLimit::tokens}};
  const SettingRef where{"batch_by", given};
  rule.limit = choose(where, given.substr(0, at), limits);
  rule.most = parse_amount(where, given.substr(std::min(at + 1, given.size())));
}

}  // namespace symprof::settings
