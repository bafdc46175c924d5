#include "report/profile/memory_snapshot.h"

#include <map>
#include <tuple>
#include <unordered_map>

#include "profile/memory/step_memory.h"
#include "report/profile/names.h"
#include "snapshot/format.h"
#include "snapshot/pickle/writer.h"
#include "snapshot/read.h"

namespace symprof::report {
namespace {

using profile::AllocatorAction;
using profile::BlockState;
using profile::MemoryTrace;
using profile::SegmentState;
using snapshot::Word;

class SnapshotWriter {
 public:
  SnapshotWriter(fmt::memory_buffer& out, const MemoryTrace& trace, const Recording& recording)
      : pickle_(out), trace_(trace), recording_(recording) {
    for (const MemoryTrace::Entry& entry : trace.entries)
      if (entry.event.action == AllocatorAction::alloc) made_[entry.event.address] = cause(entry);
  }

  void run() {
    pickle_.begin_dictionary();
    key(Word::segments);
    pickle_.begin_list();
    for (const SegmentState& segment : trace_.segments) {
      write_segment(segment);
      pickle_.next_element();
    }
    pickle_.end_list();
    key(Word::device_traces);
    pickle_.begin_list();
    write_trace();
    pickle_.end_list();
    key(Word::allocator_settings);
    pickle_.begin_dictionary();
    pickle_.end_dictionary();
    key(Word::external_annotations);
    empty_list();
    pickle_.end_dictionary();
    pickle_.finish();
  }

 private:
  /// The frames of an entry: the call, the block's owner, its category.
  using Cause = std::tuple<CallId, NodeId, MemoryCategory>;
  static Cause cause(const MemoryTrace::Entry& entry) {
    return {entry.call, entry.owner, entry.category};
  }

  /// A key or another repeated word.
  void key(Word word) {
    const auto known = words_.find(word);
    if (known != words_.end()) return pickle_.recall(known->second);
    pickle_.text(snapshot::text(word));
    words_.emplace(word, pickle_.remember());
  }

  void member(Word name, std::int64_t value) {
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
    member(Word::device, 0);
    member(Word::address, segment.address);
    member(Word::total_size, segment.bytes);
    member(Word::allocated_size, allocated);
    member(Word::active_size, allocated);
    member(Word::requested_size, requested);
    member(Word::stream, 0);
    key(Word::segment_type);
    key(segment.is_small ? Word::small : Word::large);
    key(Word::segment_pool_id);
    pickle_.pair(0, 0);
    key(Word::is_expandable);
    pickle_.boolean(segment.is_expandable);
    key(Word::frames);
    empty_list();
    key(Word::blocks);
    pickle_.begin_list();
    for (const BlockState& block : segment.blocks) write_block(block);
    pickle_.end_list();
    pickle_.end_dictionary();
  }

  void write_block(const BlockState& block) {
    pickle_.begin_dictionary();
    member(Word::address, block.address);
    member(Word::size, block.bytes);
    member(Word::requested_size, block.requested_bytes);
    key(Word::state);
    key(block.is_allocated ? Word::active_allocated : Word::inactive);
    key(Word::frames);
    const auto made = block.is_allocated ? made_.find(block.address) : made_.end();
    made == made_.end() ? empty_list() : write_frames(made->second);
    pickle_.end_dictionary();
    pickle_.next_element();
  }

  void write_trace() {
    pickle_.begin_list();
    std::int64_t time = 0;
    for (const MemoryTrace::Entry& entry : trace_.entries) {
      ++time;
      if (entry.event.action == AllocatorAction::free) {
        write_entry(Word::free_requested, entry, time);
        write_entry(Word::free_completed, entry, time);
      } else {
        write_entry(action(entry.event.action), entry, time);
      }
    }
    pickle_.end_list();
  }

  static Word action(AllocatorAction action) {
    switch (action) {
      case AllocatorAction::segment_alloc:
        return Word::segment_alloc;
      case AllocatorAction::segment_free:
        return Word::segment_free;
      case AllocatorAction::segment_map:
        return Word::segment_map;
      case AllocatorAction::segment_unmap:
        return Word::segment_unmap;
      case AllocatorAction::alloc:
        return Word::alloc;
      case AllocatorAction::free:
        return Word::free_completed;
      case AllocatorAction::oom:
        return Word::oom;
    }
    return Word::snapshot;
  }

  void write_entry(Word action, const MemoryTrace::Entry& entry, std::int64_t time) {
    pickle_.begin_dictionary();
    key(Word::action);
    key(action);
    member(entry.event.action == AllocatorAction::oom ? Word::device_free : Word::addr,
           entry.event.address);
    member(Word::size, entry.event.bytes);
    member(Word::stream, 0);
    member(Word::time_us, time);
    key(Word::frames);
    write_frames(cause(entry));
    pickle_.end_dictionary();
    pickle_.next_element();
  }

  /// From the innermost out, as a stack: the call, the modules around the owner, the category. Only
  /// the call's frame has a number, so that flame graphs put the blocks of one module together.
  void write_frames(const Cause& cause) {
    const auto known = frames_.find(cause);
    if (known != frames_.end()) return pickle_.recall(known->second);
    const auto [call, owner, category] = cause;
    pickle_.begin_list();
    write_call_frame(call);
    if (owner != none) write_module_frames(recording_.nodes[owner]);
    write_frame("memory", name(category), 0);
    pickle_.end_list();
    frames_.emplace(cause, pickle_.remember());
  }

  void write_call_frame(CallId id) {
    if (id == none) return write_frame("model", "before the first call", 0);
    const CallRecord& call = recording_.calls[id];
    write_frame(recording_.nodes[call.node].name,
                fmt::format("{} ({})", recording_.ops[call.op], name(call.phase)), id);
  }

  void write_module_frames(const NodeRecord& node) {
    if (node.scopes.empty()) return write_frame(node.name, node.op, 0);
    for (auto scope = node.scopes.rbegin(); scope != node.scopes.rend(); ++scope)
      write_frame(recording_.modules[*scope].path, recording_.modules[*scope].type, 0);
  }

  void write_frame(std::string_view file, std::string_view function, std::int64_t line) {
    pickle_.begin_dictionary();
    key(Word::filename);
    pickle_.text(file);
    key(Word::line);
    pickle_.integer(line);
    key(Word::name);
    pickle_.text(function);
    pickle_.end_dictionary();
  }

  snapshot::pickle::Writer pickle_;
  const MemoryTrace& trace_;
  const Recording& recording_;
  std::unordered_map<Word, std::int64_t> words_;
  std::map<Cause, std::int64_t> frames_;
  std::unordered_map<profile::Address, Cause> made_;  // The blocks that are allocated at the end.
};

}  // namespace

void write_memory_snapshot(fmt::memory_buffer& out, const profile::MemoryTrace& trace,
                           const Recording& recording) {
  SnapshotWriter(out, trace, recording).run();
}

snapshot::Snapshot predicted_snapshot(const profile::MemoryTrace& trace,
                                      const Recording& recording) {
  fmt::memory_buffer bytes;
  write_memory_snapshot(bytes, trace, recording);
  return snapshot::read_snapshot({bytes.data(), bytes.size()}, "the prediction");
}

}  // namespace symprof::report
