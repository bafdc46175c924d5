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

/// Where in the file the reader is, for error messages. The views must outlive it.
struct Place {
  std::string_view file;
  std::string_view record;
  std::string_view node = {};
};

/// What to do about a record that is not what PyTorch writes.
constexpr auto damaged = "The file is damaged, or torch.export.save did not write it.";

/// Throws Error "<file>: <record>: node <node>: <problem>".
[[noreturn]] void fail(const Place& place, const std::string& problem,
                       const std::string& advice = damaged);

/// Parses a record; the elements live as long as `parser`, and until it parses again. `bytes` must
/// have SIMDJSON_PADDING readable bytes behind it. Throws Error with the byte where it is broken.
Json parse(simdjson::dom::parser& parser, const char* bytes, std::size_t size, const Place& place);

/// The member `key` of an object. Throws Error when it is missing or `object` is no object.
Json member(Json object, std::string_view key, const Place& place);
/// The member `key` of an object; empty when it is missing or null.
std::optional<Json> optional_member(Json object, std::string_view key);

/// What `element` holds; so do the functions below. Each throws Error when it holds something else.
std::string_view text(Json element, const Place& place);
std::int64_t integer(Json element, const Place& place);
/// A number, or one of the strings that the exporter writes for what JSON cannot say: "Infinity",
/// "-Infinity", "NaN" (_dataclass_to_dict in torch/_export/serde/serialize.py).
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
