#include "trace/dump/names.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <span>

#include "base/error.h"

namespace symprof::trace::dump {
namespace {

constexpr std::size_t most_parts = 100;       // Limit for plausible values.
constexpr std::size_t most_left_out = 65536;  // Positions without a name, None, in one file.

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size() && number >= 0;
  return is_whole ? std::optional(number) : std::nullopt;
}

std::optional<Side> side_of(std::string_view letter) {
  for (const Side side : {Side::input, Side::output, Side::weights})
    if (letter == letter_of(side)) return side;
  return std::nullopt;
}

/// A part of a name that is no leaf: "tuple_0", "list_1.", "dict_key", "dict._key", "dict.".
struct Part {
  Kind kind = Kind::none;
  std::string_view class_name, rest;
  bool is_last = false;
};

constexpr std::pair<std::string_view, Kind> containers[] = {{"list", Kind::list},
                                                            {"tuple", Kind::tuple},
                                                            {"dict", Kind::dictionary},
                                                            {"DynamicCache", Kind::cache},
                                                            {"StaticCache", Kind::cache}};

Part read_part(std::string_view text) {
  Part part;
  for (const auto& [name, kind] : containers) {
    if (!text.starts_with(name)) continue;
    std::string_view rest = text.substr(name.size());
    if (rest.empty() || (rest[0] != '_' && rest[0] != '.')) continue;
    part.kind = kind;
    part.class_name = name;
    if (kind != Kind::list && kind != Kind::tuple) {
      part.is_last = rest[0] == '.';
      if (part.is_last) rest.remove_prefix(1);
    } else if (rest.ends_with('.')) {
      part.is_last = true;
      rest.remove_suffix(1);
    }
    if (rest.starts_with('_')) rest.remove_prefix(1);
    part.rest = rest;
    break;
  }
  return part;
}

bool fits_leaf(std::string_view kind, const Value& leaf) {
  const auto has = [&](DType dtype) {
    return leaf.tensor && leaf.tensor->spec.dtype == dtype && leaf.tensor->spec.numel() == 1 &&
           !leaf.tensor->data.empty();
  };
  if (kind == "int") return has(DType::int64);
  if (kind == "float") return has(DType::float64);
  if (kind == "bool") return has(DType::boolean);
  return kind == "empty" || kind == "array" || (kind == "tensor" && leaf.tensor) ||
         (kind == "tensor" && leaf.kind == Kind::list);
}

class Unflattener {
 public:
  Unflattener(const std::vector<NamedLeaf>& leaves, const std::string& path)
      : leaves_(leaves), path_(path) {
    parts_.reserve(leaves.size());
    for (const auto& [name, leaf] : leaves) {
      parts_.push_back(parts_of(name));
      if (parts_.back().size() > most_parts)
        fail(parts_.size() - 1, fmt::format("has more than {} parts", most_parts));
    }
  }

  Value read() {
    return leaves_.empty() ? Value{.kind = Kind::dictionary} : read(0, leaves_.size(), 0);
  }

 private:
  [[noreturn]] void fail(std::size_t leaf, const std::string& problem) const {
    throw Error(path_, fmt::format("no dump: its value '{}' {}", leaves_[leaf].first, problem),
                "Wanted: a file of onnx-diagnostic's steal_forward, or of symprof dump.");
  }

  /// The value of the leaves [begin, end), whose names have `level` parts in common.
  Value read(std::size_t begin, std::size_t end, std::size_t level) {
    if (level >= parts_[begin].size()) fail(begin, "has no kind at the end of its name");
    if (level + 1 == parts_[begin].size()) {
      if (end != begin + 1) fail(begin + 1, "stands inside another value");
      return leaf(begin);
    }
    const Part first = part_of(begin, level);
    Value value = container_value(first.kind);
    if (first.kind == Kind::cache) value.class_name = first.class_name;
    if (end == begin + 1 && first.is_last && first.rest.empty() &&
        parts_[begin][level + 1] == "empty")
      return value;
    bool is_complete = false;
    while (begin < end) {
      std::size_t next = begin + 1;
      while (next < end && level < parts_[next].size() &&
             parts_[next][level] == parts_[begin][level])
        ++next;
      const Part part = part_of(begin, level);
      if (part.class_name != first.class_name) fail(begin, "mixes two kinds of containers");
      add(value, part, begin, read(begin, next, level + 1));
      is_complete = part.is_last;
      begin = next;
    }
    // The last item was None, which the Python tool omits.
    if (!is_complete && value.keys.empty()) value.items.emplace_back();
    return value;
  }

  Part part_of(std::size_t leaf, std::size_t level) const {
    const Part part = read_part(parts_[leaf][level]);
    if (part.kind == Kind::none)
      fail(leaf, fmt::format("has the part '{}', which is no container", parts_[leaf][level]));
    return part;
  }

  void add(Value& value, const Part& part, std::size_t leaf, Value item) {
    if (part.kind == Kind::dictionary || part.kind == Kind::cache) {
      value.keys.emplace_back(part.rest);
    } else {
      const auto position = static_cast<std::size_t>(whole(part.rest).value_or(-1));
      const std::size_t gap = position - value.items.size();
      if (position < value.items.size() || gap > most_left_out - left_out_)
        fail(leaf,
             fmt::format("has the position '{}' where {} is next", part.rest, value.items.size()));
      left_out_ += gap;
      value.items.resize(position);
    }
    value.items.push_back(std::move(item));
  }

  Value leaf(std::size_t at) const {
    const std::string_view kind = parts_[at].back();
    const Value& stored = leaves_[at].second;
    if (!fits_leaf(kind, stored)) fail(at, fmt::format("does not hold what '{}' says", kind));
    if (kind == "empty") return {};
    Value value = stored;
    if (kind == "int") value.kind = Kind::integer;
    if (kind == "float") value.kind = Kind::real;
    if (kind == "bool") value.kind = Kind::boolean;
    if (kind == "array" && value.kind == Kind::tensor) value.kind = Kind::array;
    return value;
  }

  const std::vector<NamedLeaf>& leaves_;
  const std::string& path_;
  std::vector<std::vector<std::string_view>> parts_;
  std::size_t left_out_ = 0;
};

}  // namespace

std::string safe_key(std::string key) {
  for (auto at = key.find(separator); at != key.npos; at = key.find(separator, at))
    key.erase(at, 1);
  while (key.ends_with('_')) key.pop_back();
  if (key.starts_with("__")) key.erase(0, 1);  // "dict_" comes before it.
  return key;
}

std::string key_of(const Entry& entry) {
  if (entry.side == Side::other) return safe_key(entry.name);
  std::string name = entry.name;
  for (auto at = name.find(separator); at != name.npos; at = name.find(separator, at))
    name.erase(at, 1);
  return fmt::format("(({},{},{}))", name, entry.iteration, letter_of(entry.side));
}

Entry entry_of_key(std::string_view key) {
  Entry entry{.name = std::string(key)};
  if (!key.starts_with("((") || !key.ends_with("))") || key.size() < 4) return entry;
  const std::string_view inside = key.substr(2, key.size() - 4);
  const auto second = inside.rfind(',');
  if (second == inside.npos || second == 0) return entry;
  const auto first = inside.rfind(',', second - 1);
  if (first == inside.npos) return entry;
  const auto iteration = whole(inside.substr(first + 1, second - first - 1));
  const auto side = side_of(inside.substr(second + 1));
  if (iteration && side) entry = {std::string(inside.substr(0, first)), *iteration, *side, {}};
  return entry;
}

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (auto at = name.find(separator); at != name.npos; at = name.find(separator)) {
    parts.push_back(name.substr(0, at));
    name.remove_prefix(at + separator.size());
  }
  parts.push_back(name);
  return parts;
}

Value unflatten(const std::vector<NamedLeaf>& leaves, const std::string& path) {
  return Unflattener(leaves, path).read();
}

}  // namespace symprof::trace::dump
