// Dictionaries of a snapshot as records, made while the file is read.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "snapshot/format.h"
#include "snapshot/pickle/document.h"
#include "snapshot/snapshot.h"

namespace symprof::snapshot {

/// A segment as read: its blocks are still dictionaries of the document.
struct ReadSegment {
  Segment segment;
  pickle::Value blocks;
};

struct FrameHash {
  std::size_t operator()(const Frame& frame) const {
    return (frame.function * std::size_t{0x9e3779b97f4a7c15} + frame.file) *
               std::size_t{0xff51afd7ed558ccd} +
           static_cast<std::size_t>(frame.line);
  }
};

/// Keeps events, frames, blocks and segments as records, and lists of frames as stacks.
class Records : public pickle::Folder {
 public:
  /// The forms of containers.
  enum Form : std::uint8_t { values, event, frame, block, segment, stack };

  /// `name` is for messages.
  Records(pickle::Document& document, std::string name);

  bool fold_entries(const pickle::Document& document, pickle::Container& container,
                    std::span<const pickle::Value> entries) override;
  bool fold_items(const pickle::Document& document, pickle::Container& container,
                  std::span<const pickle::Value> items) override;

  std::deque<Event> events;
  std::deque<Block> blocks;
  std::deque<ReadSegment> segments;
  Stacks stacks;

 private:
  void set(Event& event, Word key, const pickle::Value& value);
  void set(Frame& frame, Word key, const pickle::Value& value);
  void set(Block& block, Word key, const pickle::Value& value);
  void set(ReadSegment& segment, Word key, const pickle::Value& value);
  /// A record with the members that `entries` have.
  template <class Record>
  Record record_of(std::span<const pickle::Value> entries);
  FrameId frame_id(const Frame& frame);

  std::int64_t integer(Word key, const pickle::Value& value) const;
  /// Bytes, or an address.
  std::int64_t quantity(Word key, const pickle::Value& value) const;
  std::optional<Word> word(const pickle::Value& value) const;
  TextId text(Word key, const pickle::Value& value);
  StackId stack_of(const pickle::Value& value);
  StackId stack_of(std::span<const FrameId> frames);
  [[noreturn]] void fail(Word key, const char* wanted) const;

  const pickle::Document& document_;
  std::string name_;
  std::vector<TextId> texts_;  // By word of the document.
  std::unordered_map<Frame, FrameId, FrameHash> frame_ids_;
  std::unordered_map<std::uint64_t, std::vector<StackId>> stack_ids_;  // By hash of the frames.
  std::vector<FrameId> scratch_;
  std::size_t copied_frames_ = 0;  // Of stacks that came in parts.
};

}  // namespace symprof::snapshot
