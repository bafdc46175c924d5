#include "report/memory_snapshot.h"

#include <unordered_map>

#include "report/names.h"
#include "report/pickle_writer.h"

namespace symprof::report {
namespace {

using profile::AllocatorAction;
using profile::BlockState;
using profile::MemoryTrace;
using profile::SegmentState;

class SnapshotWriter {
 public:
  SnapshotWriter(fmt::memory_buffer& out, const MemoryTrace& trace, const Recording& recording)
      : pickle_(out), trace_(trace), recording_(recording) {
    for (const MemoryTrace::Entry& entry : trace.entries)
      if (entry.event.action == AllocatorAction::alloc) owners_[entry.event.address] = entry.call;
  }

  void run() {
    pickle_.begin_dictionary();
    key("segments");
    pickle_.begin_list();
    for (const SegmentState& segment : trace_.segments) {
      write_segment(segment);
      pickle_.next_element();
    }
    pickle_.end_list();
    key("device_traces");
    pickle_.begin_list();
    write_trace();
    pickle_.end_list();
    key("allocator_settings");
    pickle_.begin_dictionary();
    pickle_.end_dictionary();
    key("external_annotations");
    empty_list();
    pickle_.end_dictionary();
    pickle_.finish();
  }

 private:
  /// A key or another word that comes again and again.
  void key(const char* word) {
    const auto known = words_.find(word);
    if (known != words_.end()) return pickle_.recall(known->second);
    pickle_.text(word);
    words_.emplace(word, pickle_.remember());
  }

  void member(const char* name, std::int64_t value) {
    key(name);
    pickle_.integer(value);
  }

  void empty_list() {
    pickle_.begin_list();
    pickle_.end_list();
  }

  void write_segment(const SegmentState& segment) {
    std::int64_t allocated = 0, requested = 0;
    for (const BlockState& block : segment.blocks) {
      if (block.is_allocated) allocated += block.bytes;
      requested += block.requested_bytes;
    }
    pickle_.begin_dictionary();
    member("device", 0);
    member("address", segment.address);
    member("total_size", segment.bytes);
    member("allocated_size", allocated);
    member("active_size", allocated);
    member("requested_size", requested);
    member("stream", 0);
    key("segment_type");
    key(segment.is_small ? "small" : "large");
    key("segment_pool_id");
    pickle_.pair(0, 0);
    key("is_expandable");
    pickle_.boolean(segment.is_expandable);
    key("frames");
    empty_list();
    key("blocks");
    pickle_.begin_list();
    for (const BlockState& block : segment.blocks) write_block(block);
    pickle_.end_list();
    pickle_.end_dictionary();
  }

  void write_block(const BlockState& block) {
    pickle_.begin_dictionary();
    member("address", block.address);
    member("size", block.bytes);
    member("requested_size", block.requested_bytes);
    key("state");
    key(block.is_allocated ? "active_allocated" : "inactive");
    key("frames");
    const auto owner = block.is_allocated ? owners_.find(block.address) : owners_.end();
    write_frames(owner == owners_.end() ? none : owner->second);
    pickle_.end_dictionary();
    pickle_.next_element();
  }

  void write_trace() {
    pickle_.begin_list();
    std::int64_t time = 0;
    for (const MemoryTrace::Entry& entry : trace_.entries) {
      ++time;
      if (entry.event.action == AllocatorAction::free) {
        write_entry("free_requested", entry, time);
        write_entry("free_completed", entry, time);
      } else {
        write_entry(action(entry.event.action), entry, time);
      }
    }
    pickle_.end_list();
  }

  static const char* action(AllocatorAction action) {
    switch (action) {
      case AllocatorAction::segment_alloc:
        return "segment_alloc";
      case AllocatorAction::segment_free:
        return "segment_free";
      case AllocatorAction::segment_map:
        return "segment_map";
      case AllocatorAction::segment_unmap:
        return "segment_unmap";
      case AllocatorAction::alloc:
        return "alloc";
      case AllocatorAction::free:
        return "free_completed";
      case AllocatorAction::oom:
        return "oom";
    }
    return "?";
  }

  void write_entry(const char* action, const MemoryTrace::Entry& entry, std::int64_t time) {
    pickle_.begin_dictionary();
    key("action");
    key(action);
    member(entry.event.action == AllocatorAction::oom ? "device_free" : "addr",
           entry.event.address);
    member("size", entry.event.bytes);
    member("stream", 0);
    member("time_us", time);
    key("frames");
    write_frames(entry.call);
    pickle_.end_dictionary();
    pickle_.next_element();
  }

  /// One frame for the operator, and one for its module.
  void write_frames(CallId id) {
    const auto known = frames_.find(id);
    if (known != frames_.end()) return pickle_.recall(known->second);
    pickle_.begin_list();
    if (id == none) {
      write_frame("model", "parameters, buffers and batch", 0);
    } else {
      const CallRecord& call = recording_.calls[id];
      const NodeRecord& node = recording_.nodes[call.node];
      write_frame(node.name, fmt::format("{} ({})", recording_.ops[call.op], name(call.phase)), id);
      if (!node.module.empty()) write_frame(node.module, node.module_type, id);
    }
    pickle_.end_list();
    frames_.emplace(id, pickle_.remember());
  }

  void write_frame(std::string_view file, std::string_view function, std::int64_t line) {
    pickle_.begin_dictionary();
    key("filename");
    pickle_.text(file);
    key("line");
    pickle_.integer(line);
    key("name");
    pickle_.text(function);
    pickle_.end_dictionary();
  }

  PickleWriter pickle_;
  const MemoryTrace& trace_;
  const Recording& recording_;
  std::unordered_map<std::string_view, std::int64_t> words_;
  std::unordered_map<CallId, std::int64_t> frames_;
  std::unordered_map<profile::Address, CallId> owners_;  // Of the blocks that are held at the end.
};

}  // namespace

void write_memory_snapshot(fmt::memory_buffer& out, const profile::MemoryTrace& trace,
                           const Recording& recording) {
  SnapshotWriter(out, trace, recording).run();
}

}  // namespace symprof::report
