#include "snapshot/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace symprof::snapshot {
namespace {

using pickle::Container;
using pickle::Document;
using pickle::Kind;
using pickle::Value;

/// Of all stacks together: a gigabyte.
constexpr std::size_t most_frames_of_stacks = std::size_t{1} << 28;

Action action_of(std::optional<Word> word) {
  switch (word.value_or(Word::segments)) {
    case Word::alloc:
      return Action::alloc;
    case Word::free_requested:
      return Action::free_requested;
    case Word::free_completed:
      return Action::free_completed;
    case Word::segment_alloc:
      return Action::segment_alloc;
    case Word::segment_free:
      return Action::segment_free;
    case Word::segment_map:
      return Action::segment_map;
    case Word::segment_unmap:
      return Action::segment_unmap;
    case Word::snapshot:
      return Action::snapshot;
    case Word::oom:
      return Action::oom;
    default:
      return Action::unknown;
  }
}

BlockUse use_of(std::optional<Word> word) {
  if (word == Word::active_allocated) return BlockUse::allocated;
  return word == Word::inactive ? BlockUse::free : BlockUse::pending_free;
}

bool is_key(const Value& value, Word word) {
  return value.kind == Kind::text && value.index == static_cast<std::uint32_t>(word);
}

/// The kind of record that a dictionary is, recognized by keys that only this kind has.
Records::Form form_of(std::span<const Value> entries) {
  for (std::size_t i = 0; i < entries.size(); i += 2) {
    if (is_key(entries[i], Word::action)) return Records::event;
    if (is_key(entries[i], Word::filename)) return Records::frame;
    if (is_key(entries[i], Word::state)) return Records::block;
    if (is_key(entries[i], Word::blocks)) return Records::segment;
  }
  return Records::values;
}

}  // namespace

Records::Records(Document& document, std::string name)
    : document_(document), name_(std::move(name)) {
  for (const std::string_view word : words_of_format) document.words.id(word);
}

void Records::fail(Word key, const char* wanted) const {
  throw Error(name_,
              fmt::format("event or block {}: '{}' is not {}", events.size() + blocks.size(),
                          snapshot::text(key), wanted),
              "Write the snapshot again with torch.cuda.memory._dump_snapshot.");
}

std::int64_t Records::integer(Word key, const Value& value) const {
  if (value.kind != Kind::integer) fail(key, "a whole number of 64 bits");
  return value.integer;
}

std::int64_t Records::quantity(Word key, const Value& value) const {
  constexpr std::int64_t most = std::int64_t{1} << 60;  // A sum of two fits into 64 bits.
  const std::int64_t number = integer(key, value);
  if (number < 0 || number > most) fail(key, "an address or a size");
  return number;
}

std::optional<Word> Records::word(const Value& value) const {
  if (value.kind != Kind::text || value.index >= words_of_format.size()) return {};
  return static_cast<Word>(value.index);
}

TextId Records::text(Word key, const Value& value) {
  if (value.kind == Kind::none) return 0;
  if (value.kind != Kind::text) fail(key, "a text");
  if (value.index >= texts_.size()) texts_.resize(document_.words.size());
  TextId& known = texts_[value.index];
  const std::string_view word = document_.words[value.index];
  if (known == 0 && !word.empty()) known = stacks.add(std::string(word));
  return known;
}

StackId Records::stack_of(const Value& value) {
  if (value.kind != Kind::list) return 0;
  const Container& container = document_.container(value);
  return container.form == stack ? container.number : 0;
}

FrameId Records::frame_id(const Frame& frame) {
  const auto [at, is_new] = frame_ids_.try_emplace(frame, 0);
  if (is_new) at->second = stacks.add(frame);
  return at->second;
}

StackId Records::stack_of(std::span<const FrameId> frames) {
  std::uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15 + (hash >> 29);
  std::vector<StackId>& known = stack_ids_[hash];
  for (const StackId candidate : known)
    if (std::ranges::equal(stacks.frames(candidate), frames)) return candidate;
  return known.emplace_back(stacks.add(frames));
}

void Records::set(Event& event, Word key, const Value& value) {
  switch (key) {
    case Word::action:
      event.action = action_of(word(value));
      break;
    case Word::addr:
    case Word::device_free:
      event.address = quantity(key, value);
      break;
    case Word::size:
      event.bytes = quantity(key, value);
      break;
    case Word::stream:
      event.stream = integer(key, value);
      break;
    case Word::time_us:
      event.time_us = integer(key, value);
      break;
    case Word::frames:
      event.stack = stack_of(value);
      break;
    case Word::user_metadata:
      event.metadata = text(key, value);
      break;
    default:
      break;
  }
}

void Records::set(Frame& frame, Word key, const Value& value) {
  if (key == Word::filename) frame.file = text(key, value);
  if (key == Word::name) frame.function = text(key, value);
  if (key == Word::line) frame.line = integer(key, value);
}

void Records::set(Block& block, Word key, const Value& value) {
  switch (key) {
    case Word::address:
      block.address = quantity(key, value);
      break;
    case Word::size:
      block.bytes = quantity(key, value);
      break;
    case Word::requested_size:
      block.requested_bytes = quantity(key, value);
      break;
    case Word::state:
      block.use = use_of(word(value));
      break;
    case Word::frames:
      block.stack = stack_of(value);
      break;
    default:
      break;
  }
}

void Records::set(ReadSegment& read, Word key, const Value& value) {
  Segment& segment = read.segment;
  switch (key) {
    case Word::device:
      segment.device = integer(key, value);
      break;
    case Word::address:
      segment.address = quantity(key, value);
      break;
    case Word::total_size:
      segment.bytes = quantity(key, value);
      break;
    case Word::stream:
      segment.stream = integer(key, value);
      break;
    case Word::segment_type:
      segment.is_small = word(value) == Word::small;
      break;
    case Word::segment_pool_id:
      if (const auto pair = document_.items(value); pair.size() == 2)
        segment.pool = {integer(key, pair[0]), integer(key, pair[1])};
      break;
    case Word::is_expandable:
      segment.is_expandable = value.kind == Kind::boolean && value.integer != 0;
      break;
    case Word::frames:
      segment.stack = stack_of(value);
      break;
    case Word::blocks:
      read.blocks = value;
      break;
    default:
      break;
  }
}

template <class Record>
Record Records::record_of(std::span<const Value> entries) {
  Record record;
  for (std::size_t i = 0; i < entries.size(); i += 2)
    if (const std::optional<Word> key = word(entries[i])) set(record, *key, entries[i + 1]);
  return record;
}

bool Records::fold_entries(const Document&, Container& container, std::span<const Value> entries) {
  if (container.number != Container::nothing) return false;
  const Form form = form_of(entries);
  const auto keep = [&]<class Record>(std::deque<Record>& records) {
    container = {static_cast<std::uint32_t>(records.size()), form};
    records.push_back(record_of<Record>(entries));
  };
  switch (form) {
    case event:
      keep(events);
      return true;
    case block:
      keep(blocks);
      return true;
    case segment:
      keep(segments);
      return true;
    case frame:
      container = {frame_id(record_of<Frame>(entries)), form};
      return true;
    default:
      return false;
  }
}

bool Records::fold_items(const Document& document, Container& container,
                         std::span<const Value> items) {
  const bool is_new = container.form == values && container.number == Container::nothing;
  if ((!is_new && container.form != stack) || items.empty()) return false;
  scratch_.clear();
  if (container.form == stack) {
    const auto begun = stacks.frames(container.number);
    scratch_.assign(begun.begin(), begun.end());
    copied_frames_ += begun.size();
  }
  for (const Value& item : items) {
    if (item.kind != Kind::dictionary) return false;
    const Container& one = document.container(item);
    if (one.form != frame) return false;
    scratch_.push_back(one.number);
  }
  if (copied_frames_ + stacks.id_count() > most_frames_of_stacks)
    throw Error(name_, "has more frames than any snapshot.", "Record fewer steps.");
  container = {stack_of(scratch_), stack};
  return true;
}

}  // namespace symprof::snapshot
