#include "trace/exported/json.h"

#include <fmt/format.h>

#include <limits>

#include "base/error.h"

namespace symprof::trace::exported {
namespace {

std::string shorten(Json element) {
  std::string written = simdjson::minify(element);
  if (written.size() > 60) written = written.substr(0, 57) + "...";
  return written;
}

template <class Wanted>
Wanted convert(Json element, std::string_view wanted, const Place& place) {
  Wanted result{};
  if (element.get(result) != simdjson::SUCCESS)
    fail(place, fmt::format("{} where {} was expected", shorten(element), wanted));
  return result;
}

}  // namespace

void fail(const Place& place, const std::string& problem, const std::string& advice) {
  std::string where(place.file);
  if (!place.record.empty()) where += fmt::format(": {}", place.record);
  if (!place.node.empty()) where += fmt::format(": node {}", place.node);
  throw Error(where, problem, advice);
}

Json parse(simdjson::dom::parser& parser, const char* bytes, std::size_t size, const Place& place) {
  Json root;
  const auto error = parser.parse(bytes, size, /*realloc_if_needed=*/false).get(root);
  if (error != simdjson::SUCCESS)
    fail(place, fmt::format("is not well-formed JSON ({})", simdjson::error_message(error)));
  return root;
}

Json member(Json object, std::string_view key, const Place& place) {
  simdjson::dom::object members;
  Json result;
  if (object.get(members) != simdjson::SUCCESS)
    fail(place, fmt::format("{} where an object with '{}' was expected", shorten(object), key));
  if (members.at_key(key).get(result) != simdjson::SUCCESS)
    fail(place, fmt::format("'{}' is missing in {}", key, shorten(object)));
  return result;
}

std::optional<Json> optional_member(Json object, std::string_view key) {
  Json result;
  if (object.at_key(key).get(result) != simdjson::SUCCESS || result.is_null()) return std::nullopt;
  return result;
}

std::string_view text(Json element, const Place& place) {
  return convert<std::string_view>(element, "text", place);
}

std::int64_t integer(Json element, const Place& place) {
  return convert<std::int64_t>(element, "a whole number", place);
}

double number(Json element, const Place& place) {
  if (!element.is_string()) return convert<double>(element, "a number", place);
  const std::string_view written = text(element, place);
  if (written == "Infinity") return std::numeric_limits<double>::infinity();
  if (written == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (written == "NaN") return std::numeric_limits<double>::quiet_NaN();
  fail(place, fmt::format("'{}' where a number was expected", written));
}

bool boolean(Json element, const Place& place) {
  return convert<bool>(element, "true or false", place);
}

simdjson::dom::array array(Json element, const Place& place) {
  return convert<simdjson::dom::array>(element, "a list", place);
}

simdjson::dom::object object(Json element, const Place& place) {
  return convert<simdjson::dom::object>(element, "an object", place);
}

Tagged tagged(Json element, const Place& place) {
  const auto members = object(element, place);
  if (members.begin() == members.end()) fail(place, "an empty value");
  const auto first = *members.begin();
  return {first.key, first.value};
}

}  // namespace symprof::trace::exported
