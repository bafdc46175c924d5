#include "snapshot/read.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "snapshot/pickle/reader.h"
#include "snapshot/records.h"

namespace symprof::snapshot {
namespace {

using pickle::Document;
using pickle::Kind;
using pickle::Value;

/// Assembles a Snapshot from the parts that were read.
class Assembly {
 public:
  Assembly(const std::string& name, Document& document, Records& records)
      : document_(document), records_(records) {
    made_.path = name;
  }

  Snapshot run() {
    const Value* segments = document_.find(document_.root, text(Word::segments));
    const Value* traces = document_.find(document_.root, text(Word::device_traces));
    if (!segments || !traces)
      fail("is a pickle, but has no 'segments' and 'device_traces', as a memory snapshot has");
    add_segments(*segments);
    if (const Value* said = document_.find(document_.root, text(Word::allocator_settings)))
      add_settings(*said);
    for (const Value& trace : document_.items(*traces)) add_trace(trace);
    made_.stacks = std::move(records_.stacks);
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(made_.path, problem,
                "Name a file that torch.cuda.memory._dump_snapshot wrote, with PyTorch 2.1 or "
                "later.");
  }

  /// The record of `value`; null where it is none of that form.
  template <class Record>
  const Record* record(std::deque<Record>& records, Records::Form form, const Value& value) const {
    if (value.kind != Kind::dictionary) return nullptr;
    const pickle::Container& container = document_.container(value);
    return container.form == form ? &records[container.number] : nullptr;
  }

  /// A file may name one list a thousand times.
  void check_once(std::size_t used, std::size_t known, const char* what) const {
    if (used > known) fail(fmt::format("has one {} several times", what));
  }

  void add_segments(const Value& list) {
    std::size_t blocks = 0;
    std::size_t segments = 0;
    for (const Value& value : document_.items(list)) {
      const ReadSegment* read = record(records_.segments, Records::segment, value);
      if (!read) fail("one of its 'segments' is none");
      check_once(++segments, records_.segments.size(), "segment");
      Segment& segment = made_.segments.emplace_back(read->segment);
      for (const Value& item : document_.items(read->blocks)) {
        const Block* block = record(records_.blocks, Records::block, item);
        if (!block) fail("one of the 'blocks' of a segment is none");
        check_once(++blocks, records_.blocks.size(), "block");
        segment.blocks.push_back(*block);
      }
      complete(segment);
    }
  }

  /// PyTorch 2.1 does not write the addresses of blocks.
  void complete(Segment& segment) const {
    std::int64_t address = segment.address, left = segment.bytes;
    for (Block& block : segment.blocks) {
      if (block.bytes > left) fail("the blocks of a segment are larger than the segment");
      if (block.address == 0) block.address = address;
      address += block.bytes;
      left -= block.bytes;
      if (block.requested_bytes == 0 && block.use != BlockUse::free)
        block.requested_bytes = block.bytes;
    }
  }

  /// The events of one device lie one behind the other, as they were read.
  void add_trace(const Value& list) {
    std::vector<Event>& trace = made_.traces.emplace_back();
    const auto items = document_.items(list);
    trace.reserve(std::min(items.size(), records_.events.size()));
    for (const Value& value : items) {
      const Event* event = record(records_.events, Records::event, value);
      if (!event) fail("one of its 'device_traces' has what is no event");
      check_once(++events_, records_.events.size(), "event");
      trace.push_back(*event);
    }
  }

  void add_settings(const Value& said) {
    Settings& settings = made_.settings;
    for (const char* key : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
      if (const Value* conf = document_.find(said, key); conf && conf->kind == Kind::text)
        settings.conf = document_.words[conf->index];
    if (const Value* flag = document_.find(said, "expandable_segments"))
      settings.expandable_segments = flag->kind == Kind::boolean && flag->integer != 0;
    if (const Value* most = document_.find(said, "max_split_size");
        most && most->kind == Kind::integer && most->integer > 0)
      settings.max_split_size_bytes = most->integer;
    if (const Value* divisions = document_.find(said, "roundup_power2_divisions"))
      add_divisions(document_.items(*divisions));
  }

  void add_divisions(std::span<const Value> entries) {
    constexpr std::size_t wanted = 16;
    constexpr std::int64_t most = 1 << 20;
    for (std::size_t i = 1; i < entries.size(); i += 2)
      if (entries[i].kind == Kind::integer && entries[i].integer >= 0 && entries[i].integer <= most)
        made_.settings.roundup_power2_divisions.push_back(entries[i].integer);
    if (made_.settings.roundup_power2_divisions.size() != wanted)
      made_.settings.roundup_power2_divisions.clear();
  }

  Document& document_;
  Records& records_;
  Snapshot made_;
  std::size_t events_ = 0;
};

Snapshot read_from(pickle::ByteSource& source) {
  Document document;
  Records records(document, source.name());
  pickle::read(source, document, records);
  return Assembly(source.name(), document, records).run();
}

}  // namespace

Snapshot read_snapshot(const std::string& path) {
  pickle::ByteSource source(path);
  return read_from(source);
}

Snapshot read_snapshot(std::string_view bytes, const std::string& name) {
  pickle::ByteSource source(bytes, name);
  return read_from(source);
}

}  // namespace symprof::snapshot
