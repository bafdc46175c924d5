// Reads the JSON records of an exported program with errors that name the file, the record and the
// node. A thin layer over simdjson, whose elements are views into the parsed record.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace symprof::trace::exported {

using Json = simdjson::dom::element;

/// The reader's position in the file, for error messages. The views must outlive it.
struct Place {
  std::string_view file;
  std::string_view record;
  std::string_view node = {};
};

/// Advice for a record in an unexpected format.
constexpr auto damaged = "The file is damaged, or torch.export.save did not write it.";

/// Throws Error "<file>: <record>: node <node>: <problem>".
[[noreturn]] void fail(const Place& place, const std::string& problem,
                       const std::string& advice = damaged);

/// Parses a record; the elements live as long as `parser`, and until it parses again. `bytes` must
/// have SIMDJSON_PADDING readable bytes behind it. Throws Error with the byte of a syntax error.
Json parse(simdjson::dom::parser& parser, const char* bytes, std::size_t size, const Place& place);

/// The member `key` of an object. Throws Error when it is missing or `object` is no object.
Json member(Json object, std::string_view key, const Place& place);
/// The member `key` of an object; empty when it is missing or null.
std::optional<Json> optional_member(Json object, std::string_view key);

/// The value of `element` as a string; the functions below return other types. Each throws Error if
/// it has another type.
std::string_view text(Json element, const Place& place);
std::int64_t integer(Json element, const Place& place);
/// A number, or one of the exporter's strings for values that JSON lacks: "Infinity", "-Infinity",
/// "NaN" (_dataclass_to_dict in torch/_export/serde/serialize.py).
double number(Json element, const Place& place);
bool boolean(Json element, const Place& place);
simdjson::dom::array array(Json element, const Place& place);
simdjson::dom::object object(Json element, const Place& place);

/// A union of the schema: an object with one member, whose key is the kind.
struct Tagged {
  std::string_view tag;
  Json value;
};
/// Throws Error for an empty object, and for anything else that is no object.
Tagged tagged(Json element, const Place& place);

}  // namespace symprof::trace::exported
