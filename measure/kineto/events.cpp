#include "measure/kineto/events.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/kineto/arguments.h"
#include "measure/kineto/read_file.h"

namespace symprof::measure::kineto {
namespace {

using Json = simdjson::dom::element;
using simdjson::dom::object;

enum class Kind : std::uint8_t { other, op, mark, call, kernel, copy, set };

/// Kineto's categories since PyTorch 1.12, and those before (kineto's ActivityType.cpp).
constexpr std::pair<std::string_view, Kind> categories[] = {
    {"cpu_op", Kind::op},         {"Operator", Kind::op},      {"user_annotation", Kind::mark},
    {"cuda_runtime", Kind::call}, {"cuda_driver", Kind::call}, {"Runtime", Kind::call},
    {"kernel", Kind::kernel},     {"Kernel", Kind::kernel},    {"gpu_memcpy", Kind::copy},
    {"Memcpy", Kind::copy},       {"gpu_memset", Kind::set},   {"Memset", Kind::set},
};

Kind kind_of(std::string_view category) {
  for (const auto& [name, kind] : categories)
    if (name == category) return kind;
  return Kind::other;
}

std::string_view text_of(object event, std::string_view key) {
  std::string_view text;
  return event[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

/// Old versions write numbers as strings, and signed or unsigned ids.
std::optional<std::int64_t> integer_of(object event, std::string_view key) {
  Json value;
  if (event[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || text.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                  : std::nullopt;
}

/// The id of a thread or process: a number or a string.
std::string word_of(object event, std::string_view key) {
  if (const std::optional<std::int64_t> number = integer_of(event, key))
    return std::to_string(*number);
  return std::string(text_of(event, key));
}

/// Converts microseconds of the file to nanoseconds. Integers stay exact: old versions count from
/// 1970, beyond a double's precision.
std::optional<std::int64_t> nanoseconds_of(object event, std::string_view key) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4000;
  Json value;
  if (event[key].get(value) != simdjson::SUCCESS) return std::nullopt;
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS)
    return whole > -most && whole < most ? std::optional(whole * 1000) : std::nullopt;
  double us = 0;
  if (value.get(us) != simdjson::SUCCESS || !(std::abs(us) < static_cast<double>(most)))
    return std::nullopt;
  const double floor = std::floor(us);
  return static_cast<std::int64_t>(floor) * 1000 + std::llround((us - floor) * 1000);
}

/// "Input Dims": a list for each argument. Tensor lists are nested lists, flattened into arguments
/// here.
std::vector<std::vector<std::int64_t>> sizes_of(object arguments) {
  std::vector<std::vector<std::int64_t>> result;
  simdjson::dom::array inputs;
  if (arguments["Input Dims"].get(inputs) != simdjson::SUCCESS) return result;
  const auto add = [&](simdjson::dom::array sizes) {
    std::vector<std::int64_t>& added = result.emplace_back();
    for (const Json size : sizes)
      if (std::int64_t number = 0; size.get(number) == simdjson::SUCCESS) added.push_back(number);
  };
  for (const Json input : inputs) {
    simdjson::dom::array sizes;
    if (input.get(sizes) != simdjson::SUCCESS) continue;
    const bool is_list = sizes.begin() != sizes.end() && (*sizes.begin()).is_array();
    if (!is_list) {
      add(sizes);
      continue;
    }
    for (const Json tensor : sizes)
      if (simdjson::dom::array inner; tensor.get(inner) == simdjson::SUCCESS) add(inner);
  }
  return result;
}

class Reader {
 public:
  explicit Reader(Arguments arguments) : keeps_arguments_(arguments == Arguments::kept) {}

  void add(object event) {
    if (text_of(event, "ph") != "X") return;
    const Kind kind = kind_of(text_of(event, "cat"));
    if (kind == Kind::other) return;
    const auto begin = nanoseconds_of(event, "ts");
    const auto duration = nanoseconds_of(event, "dur");
    if (!begin || !duration || *duration < 0) {
      ++events_.unreadable;
      return;
    }
    object arguments;
    const bool has_arguments = event["args"].get(arguments) == simdjson::SUCCESS;
    const object* given = has_arguments ? &arguments : nullptr;
    const Range range{std::string(text_of(event, "name")), *begin, *begin + *duration};
    if (kind == Kind::op || kind == Kind::mark)
      add_operator(event, given, kind, range);
    else if (kind == Kind::call)
      add_call(event, given, range);
    else
      add_activity(given, kind, range);
  }

  Events take(Json root) {
    simdjson::dom::array devices;
    if (root.at_key("deviceProperties").get(devices) == simdjson::SUCCESS)
      for (const Json device : devices)
        if (object properties; device.get(properties) == simdjson::SUCCESS) {
          const std::string_view name = text_of(properties, "name");
          if (!name.empty() && events_.device_name.empty()) events_.device_name = name;
        }
    events_.arguments = arguments_.take();
    return std::move(events_);
  }

 private:
  struct Range {
    std::string name;
    std::int64_t begin_ns, end_ns;
  };

  std::int32_t thread_of(object event) {
    const auto key = std::pair(word_of(event, "pid"), word_of(event, "tid"));
    const auto [at, is_new] =
        threads_.try_emplace(key, static_cast<std::int32_t>(events_.threads.size()));
    if (is_new) events_.threads.push_back({.process = key.first, .name = key.second});
    return at->second;
  }

  void add_operator(object event, const object* arguments, Kind kind, const Range& range) {
    Operator op{.name = range.name,
                .kind = kind == Kind::op ? Operator::Kind::op : Operator::Kind::mark,
                .begin_ns = range.begin_ns,
                .end_ns = range.end_ns,
                .thread = thread_of(event)};
    std::optional<std::int64_t> order;
    if (arguments != nullptr) {
      op.sequence = integer_of(*arguments, "Sequence number");
      op.forward_thread = integer_of(*arguments, "Fwd thread id").value_or(0);
      op.input_sizes = sizes_of(*arguments);
      if (keeps_arguments_) op.arguments = arguments_.add(*arguments);
      // Operators, unlike kernels, have their own id here in all versions.
      order = integer_of(*arguments, "External id");
      if (!order) order = integer_of(*arguments, "external id");
    }
    // PyTorch before 1.12 wrote the profiler's own ranges as operators.
    if (op.name.starts_with("ProfilerStep#") || op.name.starts_with("Optimizer."))
      op.kind = Operator::Kind::mark;
    events_.order.push_back(order.value_or(static_cast<std::int64_t>(events_.operators.size())));
    events_.operators.push_back(std::move(op));
  }

  /// Ignores calls without an id: their work could not be found.
  void add_call(object event, const object* arguments, const Range& range) {
    const auto correlation = correlation_of(arguments);
    if (!correlation) return;
    events_.calls.push_back({.name = range.name,
                             .thread = thread_of(event),
                             .begin_ns = range.begin_ns,
                             .end_ns = range.end_ns,
                             .correlation = *correlation});
  }

  void add_activity(const object* arguments, Kind kind, const Range& range) {
    Activity activity{.name = range.name, .begin_ns = range.begin_ns, .end_ns = range.end_ns};
    activity.kind = kind == Kind::kernel ? Activity::Kind::kernel
                    : kind == Kind::copy ? Activity::Kind::copy
                                         : Activity::Kind::set;
    if (arguments != nullptr) {
      activity.device = integer_of(*arguments, "device").value_or(0);
      activity.stream = integer_of(*arguments, "stream").value_or(0);
    }
    events_.correlations.push_back(correlation_of(arguments));
    events_.activities.push_back(std::move(activity));
  }

  /// CUPTI's ids have 32 bits; some versions print ids from 2^31 on as negative. 0: none.
  static std::optional<std::uint32_t> correlation_of(const object* arguments) {
    if (arguments == nullptr) return std::nullopt;
    const auto id = integer_of(*arguments, "correlation");
    if (!id || static_cast<std::uint32_t>(*id) == 0) return std::nullopt;
    return static_cast<std::uint32_t>(*id);
  }

  bool keeps_arguments_;
  Events events_;
  ArgumentLists arguments_;
  std::map<std::pair<std::string, std::string>, std::int32_t> threads_;
};

constexpr auto advice =
    "torch.profiler's export_chrome_trace writes such a file (.json, .json.gz).";

/// simdjson reports the error without its position; a slower parser finds it.
std::string broken_json(std::string_view text, const char* reason) {
  try {
    const auto parsed = nlohmann::json::parse(text, [](int, auto, auto&) { return false; });
    return fmt::format("is no JSON that can be read ({}).", reason);
  } catch (const nlohmann::json::parse_error& error) {
    return fmt::format("is no complete JSON: it breaks off at byte {} of {}.",
                       std::min(error.byte, text.size()), text.size());
  }
}

Events parse(const simdjson::padded_string& text, const std::string& path, Arguments arguments) {
  simdjson::dom::parser parser;
  Json root;
  if (const auto error = parser.parse(text).get(root))
    throw Error(path, broken_json({text.data(), text.size()}, simdjson::error_message(error)),
                "Copy the trace again, or record it again.");
  simdjson::dom::array events;
  // By the format's specification, a bare list of events is also a trace.
  if (root.get(events) != simdjson::SUCCESS && root.at_key("traceEvents").get(events))
    throw Error(path, "has no list 'traceEvents'.", advice);
  Reader reader(arguments);
  std::size_t index = 0;
  for (const Json element : events) {
    object event;
    if (element.get(event) != simdjson::SUCCESS)
      throw Error(fmt::format("{}: event {}", path, index), "is no object.", advice);
    reader.add(event);
    ++index;
  }
  return reader.take(root);
}

}  // namespace

Events read_events(const std::string& path, Arguments arguments) {
  return parse(read_file(path), path, arguments);
}

Events parse_events(const std::string& text, const std::string& path, Arguments arguments) {
  return parse(simdjson::padded_string(text), path, arguments);
}

}  // namespace symprof::measure::kineto
