#include "shape/step/recorder.h"

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/rounding.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/known_values.h"
#include "meta/fake/saved_tensors.h"
#include "meta/fake/simulated_device.h"
#include "meta/fake/simulated_guard.h"
#include "meta/kernels/unmodelled.h"

namespace symprof::shape {
namespace {

void append_integers(const c10::IValue& value, const c10::Argument& argument, std::uint8_t position,
                     std::vector<IntegerArgument>& out) {
  if (value.isInt()) {
    out.push_back({position, value.toInt()});
  } else if (value.isBool()) {
    out.push_back({position, value.toBool() ? 1 : 0});
  } else if (value.isIntList()) {
    for (const std::int64_t element : value.toIntList()) out.push_back({position, element});
  } else if (value.isBoolList()) {
    for (const bool element : value.toBoolList()) out.push_back({position, element ? 1 : 0});
  } else if (value.isString()) {
    const std::optional<c10::IValue>& usual = argument.default_value();
    const bool is_usual = usual && usual->isString() && *usual == value;
    out.push_back({position, is_usual ? 0 : 1});
  }
}

constexpr std::int64_t smallest_block_bytes = 512;  // c10/core/AllocatorConfig.h: kMinBlockSize.

std::int64_t block_bytes(std::int64_t bytes) { return round_up(bytes, smallest_block_bytes); }

double in_mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// Appends the offsets of packed sequences, as attention kernels take them (cum_seq_q,
/// cu_seqlens_k): the call's cost depends on their values, which are recorded if known.
void append_offsets(const c10::IValue& value, const c10::Argument& argument, std::uint8_t position,
                    std::vector<IntegerArgument>& out) {
  const std::string& name = argument.name();
  constexpr std::int64_t most = 1 << 16;
  if (!value.isTensor() || !(name.starts_with("cum_seq") || name.starts_with("cu_seq"))) return;
  if (!value.toTensor().defined() || value.toTensor().numel() > most) return;
  const auto values = meta::known_values(value.toTensor());
  if (!values || values->dim() != 1) return;
  const meta::OnRealTensors on_real_tensors;
  const at::Tensor offsets = values->to(at::kLong).contiguous();
  for (std::int64_t i = 0; i < offsets.numel(); ++i)
    out.push_back({position, offsets.const_data_ptr<std::int64_t>()[i]});
}

std::vector<TensorRecord> records(std::span<const meta::SeenTensor> tensors) {
  std::vector<TensorRecord> result;
  result.reserve(tensors.size());
  for (const meta::SeenTensor& tensor : tensors) result.push_back({tensor.spec, tensor.storage});
  return result;
}

}  // namespace

std::int32_t Recorder::on_allocate(std::int64_t bytes, meta::Place place) {
  const bool on_device = place == meta::Place::device;
  if (on_device && tell_first_block_) std::exchange(tell_first_block_, nullptr)();
  const std::lock_guard lock(mutex_);
  if (on_device) count_block(bytes);
  const auto id = static_cast<StorageId>(recording_.storages.size());
  recording_.storages.push_back(
      {.bytes = bytes,
       .kind = open_call_ == none ? kind_ : StorageKind::activation,
       .allocated_by = open_call_,
       .node = open_call_ == none ? node_ : recording_.calls[open_call_].node,
       .on_device = on_device,
       .stream = meta::current_stream()});
  if (!finished_) add_allocation(id);
  return id;
}

void Recorder::count_block(std::int64_t bytes) {
  const std::int64_t block = block_bytes(bytes);
  if (limit_bytes_ && live_bytes_ + block > *limit_bytes_)
    throw c10::OutOfMemoryError(
        {__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)},
        fmt::format("CUDA out of memory. Tried to allocate {:.2f} MiB. GPU 0 has {:.2f} MiB "
                    "allowed, of which tensors hold {:.2f} MiB.",
                    in_mebibytes(block), in_mebibytes(*limit_bytes_), in_mebibytes(live_bytes_)));
  live_bytes_ += block;
}

// The new block keeps the old one's kind. FSDP frees gathered parameters by a resize to 0 bytes and
// allocates them again by another (torch/distributed/fsdp/_flat_param.py,
// _fully_shard/_fsdp_param.py): tensors that autograd saved of them do not stay allocated until
// backward.
std::int32_t Recorder::on_resize(std::int32_t old, std::int64_t bytes, meta::Place place) {
  const std::int32_t id = on_allocate(bytes, place);
  const std::lock_guard lock(mutex_);
  StorageRecord& before = recording_.storages[static_cast<std::size_t>(old)];
  StorageRecord& record = recording_.storages[static_cast<std::size_t>(id)];
  const bool is_forward = phase_ != Phase::backward;
  if (is_forward && bytes == 0) before.saved = false;
  const bool is_gathered =
      is_forward && before.bytes == 0 && before.kind == StorageKind::activation;
  record.kind = is_gathered ? StorageKind::communication : before.kind;
  record.parameter = before.parameter;
  if (record.allocated_by == none) record.allocated_by = last_call_;
  return id;
}

void Recorder::add_allocation(StorageId storage) {
  if (open_call_ != none || made_ == Made::now)
    recording_.events.push_back({storage, last_call_, EventKind::allocate});
  else if (made_ == Made::in_first_update)
    earlier_events_.push_back({storage, none, EventKind::allocate});
}

void Recorder::on_free(std::int32_t storage) noexcept {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  const StorageRecord& record = recording_.storages[static_cast<std::size_t>(storage)];
  if (record.on_device) live_bytes_ -= block_bytes(record.bytes);
  recording_.events.push_back({storage, last_call_, EventKind::free});
}

std::int32_t Recorder::on_spec(TensorSpec spec) {
  recording_.specs.push_back(std::move(spec));
  return static_cast<std::int32_t>(recording_.specs.size()) - 1;
}

void Recorder::on_call_begin(const c10::OperatorHandle& op) {
  const NodeId node = phase_ == Phase::backward ? backward_node() : node_;
  const std::lock_guard lock(mutex_);
  open_call_ = last_call_ = static_cast<CallId>(recording_.calls.size());
  const bool again = phase_ == Phase::backward && recomputed_node_ != none;
  if (is_of_program_) tf32_ = meta::tf32_switches();
  recording_.calls.push_back({.op = op_id(op),
                              .phase = again ? Phase::recompute : phase_,
                              .node = node,
                              .stream = meta::current_stream(),
                              .times_convolutions = is_of_program_ && meta::times_convolutions(),
                              .tf32_products = tf32_.products,
                              .tf32_convolutions = tf32_.convolutions,
                              .tf32_recurrent = tf32_.recurrent});
}

void Recorder::on_call(const meta::SeenCall& seen) {
  CallRecord& call = recording_.calls[static_cast<std::size_t>(open_call_)];
  call.inputs = records(seen.inputs);
  call.input_positions.assign(seen.positions.begin(), seen.positions.end());
  call.outputs = records(seen.outputs);
  for (std::size_t i = 0; i < seen.arguments.size(); ++i) {
    const c10::Argument& argument = seen.op.schema().arguments()[i];
    const auto position = static_cast<std::uint8_t>(i);
    append_integers(seen.arguments[i], argument, position, call.integers);
    append_offsets(seen.arguments[i], argument, position, call.integers);
  }
  if (recording_.ops[static_cast<std::size_t>(call.op)] == kernels::unmodelled_operator)
    call.op = op_id(seen.arguments[0].toStringRef());
  open_call_ = none;
}

// Tensors saved during recomputation are released when the checkpoint's backward ends: they count
// in the peak, not in the memory saved by the forward pass.
void Recorder::on_saved(std::int32_t storage) {
  if (phase_ == Phase::backward && recomputed_node_ != none) return;
  const std::lock_guard lock(mutex_);
  recording_.storages[static_cast<std::size_t>(storage)].saved = true;
  if (is_of_program_) saves_.push_back({storage, true});
}

// A graph may be released on another thread, and after the recording has ended.
void Recorder::on_released(std::int32_t storage) noexcept {
  if (!is_of_program_) return;
  const std::lock_guard lock(mutex_);
  if (!finished_) saves_.push_back({storage, false});
}

void Recorder::on_offloaded(std::int32_t storage) {
  set_storage_kind(storage, StorageKind::offloaded);
}

// Queries come from inside a call, or from a read of a number, which is no device call.
NodeId Recorder::asking_node() {
  if (open_call_ != none) return recording_.calls[open_call_].node;
  return phase_ == Phase::backward ? backward_node() : node_;
}

void Recorder::mark_upper_bound(NodeId node) {
  recording_.nodes[static_cast<std::size_t>(node)].upper_bound = true;
}

std::optional<std::int64_t> Recorder::unbacked_size(std::optional<std::int64_t> most) {
  const bool is_formula_of_autograd = phase_ == Phase::backward && recomputed_node_ == none;
  if (is_formula_of_autograd && meta::backward_counts_zeros()) return 0;
  const NodeId node = asking_node();
  const auto known = unbacked_sizes_.find(node);
  const UnbackedSize size = known == unbacked_sizes_.end() ? UnbackedSize{} : known->second;
  if (size.given) {
    if (!most || *size.given <= *most) return size.given;
    throw Error("",
                fmt::format("{} elements are given, and there are at most {}", *size.given, *most),
                fmt::format("Give a smaller number with {}.", setting("sizes")));
  }
  if (!takes_upper_bounds_ || (!most && !size.most)) return std::nullopt;
  mark_upper_bound(node);
  if (most && size.most) return std::min(*most, *size.most);
  return most ? most : size.most;
}

void Recorder::on_known_number(std::int64_t number) {
  if (phase_ == Phase::backward) return;
  const auto known = unbacked_sizes_.find(asking_node());
  if (known == unbacked_sizes_.end() || !known->second.given || *known->second.given == number)
    return;
  throw Error("",
              fmt::format("the values that {} gives make it {}, and {} is given", setting("inputs"),
                          number, *known->second.given),
              fmt::format("Leave {} of it out, or give values that agree.", setting("sizes")));
}

bool Recorder::takes_upper_bounds() {
  if (takes_upper_bounds_) mark_upper_bound(asking_node());
  return takes_upper_bounds_;
}

void Recorder::enter(Phase phase, NodeId node) {
  phase_ = phase;
  node_ = node;
}

void Recorder::mark_sequence(NodeId node) {
  marks_.push_back({meta::next_sequence_number(), node});
}

void Recorder::recompute(NodeId node) {
  recomputed_node_ = node;
  if (node != none) node_ = node;
  mark_sequence(node);
}

void Recorder::set_storage_kind(StorageId storage, StorageKind kind) {
  recording_.storages[static_cast<std::size_t>(storage)].kind = kind;
}

void Recorder::give_to_parameter(StorageId storage, StorageKind kind, StorageId parameter) {
  StorageRecord& record = recording_.storages[static_cast<std::size_t>(storage)];
  record.kind = kind;
  record.parameter = parameter;
}

// The engine sums gradients between two autograd nodes: the sum belongs to the node that ran last,
// whose gradient it adds.
NodeId Recorder::backward_node() {
  if (recomputed_node_ != none) return recomputed_node_;
  if (says_nodes_) return node_;
  const auto current = meta::current_backward_node();
  if (!current) return node_;
  if (current->leaf_storage >= 0) {
    const auto owner = parameter_nodes_.find(current->leaf_storage);
    if (owner != parameter_nodes_.end()) return node_ = owner->second;
  }
  const auto after =
      std::ranges::upper_bound(marks_, current->sequence_number, {}, &Mark::sequence);
  if (after != marks_.begin() && after != marks_.end() && std::prev(after)->node != none)
    node_ = std::prev(after)->node;
  return node_;
}

std::int32_t Recorder::op_id(const c10::OperatorHandle& op) {
  const auto [entry, is_new] =
      op_ids_.try_emplace(&op.schema(), static_cast<std::int32_t>(recording_.ops.size()));
  if (is_new) recording_.ops.push_back(op.schema().name());
  return entry->second;
}

std::int32_t Recorder::op_id(const std::string& name) {
  const auto found = std::ranges::find(recording_.ops, name);
  const auto id = static_cast<std::int32_t>(found - recording_.ops.begin());
  if (found == recording_.ops.end()) recording_.ops.push_back(name);
  return id;
}

Recording Recorder::take() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  const auto is_of_call = [](const MemoryEvent& event) { return event.call != none; };
  recording_.events.insert(std::ranges::find_if(recording_.events, is_of_call),
                           earlier_events_.begin(), earlier_events_.end());
  return std::move(recording_);
}

}  // namespace symprof::shape
