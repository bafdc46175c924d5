#include "shape/eager/program.h"

#include <ATen/ATen.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/given_values.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/host_writes.h"
#include "meta/fake/known_values.h"
#include "meta/fake/program_error.h"
#include "shape/eager/captures.h"
#include "shape/eager/program_nodes.h"
#include "shape/eager/read_numbers.h"
#include "shape/eager/root_names.h"
#include "shape/step/forced_backend.h"
#include "shape/step/matmul_precision.h"
#include "shape/step/recorder.h"

namespace symprof {
namespace {

/// The storage's id in this program's recording; a tensor of a finished simulation is added as new.
StorageId storage_of(const at::Tensor& tensor) {
  if (meta::is_fake(tensor)) meta::announce(tensor);
  return meta::storage_id(tensor);
}

std::string times(int count) { return fmt::format("{} time{}", count, count == 1 ? "" : "s"); }

const std::string& named(const std::string& place) {
  static const std::string unnamed = "the program";
  return place.empty() ? unnamed : place;
}

}  // namespace

class EagerProgram::Run {
 public:
  Run(const StepOptions& options, PlaceOfProgram place)
      : recorder(std::make_shared<shape::Recorder>()),
        mode({.device = options.device, .forced = shape::forced_backend(options.attention)},
             recorder, meta::Factories::on_host),
        matmul_precision_(options.float32_matmul_precision),
        place_(std::move(place)),
        nodes(*recorder, place_) {
    recorder->take_upper_bounds();
    recorder->follow_values();
    recorder->obey_switches();
    recorder->answer_numbers([this](StorageId storage, const meta::ValueRange& range) {
      return numbers.answer(recorder->recording(), storage, range);
    });
    recorder->recording().format = "program";
    recorder->recording().producer = "python";
  }

  /// Sets the kind of the tensor's storage. Returns the storage; none for real tensors.
  StorageId set_kind(const at::Tensor& tensor, StorageKind kind) const {
    const StorageId storage = storage_of(tensor);
    if (storage != none) recorder->set_storage_kind(storage, kind);
    return storage;
  }

  void give(const at::Tensor& tensor, StorageKind kind, const at::Tensor& parameter) const {
    const StorageId storage = storage_of(tensor);
    if (storage != none) recorder->give_to_parameter(storage, kind, storage_of(parameter));
  }

  /// Tells the nodes of the begin or end of a module or pass. Ends the loops that read numbers so
  /// far.
  template <class Tell>
  void turn(const Tell& tell) {
    numbers.end_loops();
    captures.tell(tell);
  }

  /// Warns about lines that made tensors of a data-dependent size.
  void tell_upper_bounds() const {
    std::set<std::string> places;
    for (const NodeRecord& node : recorder->recording().nodes)
      if (node.upper_bound) places.insert(named(node.source));
    for (const std::string& place : places)
      recorder->recording().warnings.push_back(
          fmt::format("{}: made a tensor whose size depends on data; its largest size was used, "
                      "and figures that "
                      "depend on it (≤) are upper bounds ({} sets the values).",
                      place, given_values()));
  }

  /// Warns about host tensors that lack values a device would have written.
  void tell_kept_numbers() const {
    for (const auto& [place, count] : kept_at_)
      recorder->recording().warnings.push_back(fmt::format(
          "{}: wrote the device's numbers to a large tensor on the host {}; it keeps what it had.",
          named(place), times(count)));
  }

  /// Warns that a block used on another stream may be freed later on a GPU.
  void tell_streams() const {
    if (const int count = recorder->stream_uses(); count > 0)
      recorder->recording().warnings.push_back(
          fmt::format("record_stream was called {}: such a block is free here when the program "
                      "releases it; on a device, when the other stream has passed that point.",
                      times(count)));
  }

  /// Warns about assumed values: numbers read from tensors without storage.
  void tell_numbers() const {
    for (const std::string& sentence : numbers.warnings())
      recorder->recording().warnings.push_back(sentence);
  }

  std::shared_ptr<shape::Recorder> recorder;
  std::vector<std::string> roots;
  std::set<const c10::TensorImpl*> parameters;  // Several may lie in one storage.
  meta::FakeMode mode;

 private:
  shape::MatmulPrecisionRegion matmul_precision_;
  PlaceOfProgram place_;
  std::map<std::string, int> kept_at_;
  meta::KeptNumbersListener kept_numbers_{[this] { ++kept_at_[place_()]; }};

 public:
  shape::ReadNumbers numbers{place_};
  shape::ProgramNodes nodes;
  shape::Captures captures{*recorder, nodes};
};

EagerProgram::EagerProgram(const StepOptions& options, PlaceOfProgram place)
    : run_(std::make_unique<Run>(options, std::move(place))) {}

EagerProgram::~EagerProgram() = default;

void EagerProgram::set_name(const std::string& name) { run_->recorder->recording().path = name; }

void EagerProgram::add_root(const std::string& name) { run_->roots.push_back(name); }

void EagerProgram::enter_module(const std::string& path, const std::string& type) {
  run_->turn([=](auto& nodes) { nodes.enter_module(path, type); });
}
void EagerProgram::leave_module() {
  run_->turn([](auto& nodes) { nodes.leave_module(); });
}
void EagerProgram::enter_backward(bool makes_graph) {
  run_->turn([=](auto& nodes) { nodes.enter_backward(makes_graph); });
}
void EagerProgram::leave_backward() {
  run_->turn([](auto& nodes) { nodes.leave_backward(); });
}
void EagerProgram::enter_optimizer(const ProgramOptimizer& optimizer) {
  run_->turn([=](auto& nodes) { nodes.enter_optimizer(optimizer); });
}
void EagerProgram::leave_optimizer() {
  run_->turn([](auto& nodes) { nodes.leave_optimizer(); });
}
void EagerProgram::enter_closure() {
  run_->turn([](auto& nodes) { nodes.enter_closure(); });
}
void EagerProgram::leave_closure() {
  run_->turn([](auto& nodes) { nodes.leave_closure(); });
}
void EagerProgram::enter_graph() {
  run_->turn([](auto& nodes) { nodes.enter_graph(); });
}
void EagerProgram::leave_graph() {
  run_->turn([](auto& nodes) { nodes.leave_graph(); });
}
void EagerProgram::enter_code() { run_->nodes.enter_code(); }
void EagerProgram::leave_code() { run_->nodes.leave_code(); }
void EagerProgram::at_kernel(const std::string& path) { run_->nodes.at_kernel(path); }
void EagerProgram::mark_step() {
  run_->turn([](auto& nodes) { nodes.mark_step(); });
}

void EagerProgram::add_parameter(const at::Tensor& parameter, const std::vector<at::Tensor>& parts,
                                 std::int64_t elements) {
  bool is_on_device = false;
  for (const at::Tensor& part : parts)
    is_on_device |= run_->set_kind(part, StorageKind::parameter) != none;
  if (is_on_device && run_->parameters.insert(parameter.unsafeGetTensorImpl()).second)
    run_->recorder->recording().parameter_count += elements;
}

void EagerProgram::add_buffer(const at::Tensor& buffer) {
  run_->set_kind(buffer, StorageKind::buffer);
}

void EagerProgram::add_input(const at::Tensor& input) { run_->set_kind(input, StorageKind::input); }

void EagerProgram::add_gradient(const at::Tensor& gradient, const at::Tensor& parameter) {
  run_->give(gradient, StorageKind::gradient, parameter);
}

void EagerProgram::add_optimizer_state(const at::Tensor& state, const at::Tensor& parameter) {
  run_->give(state, StorageKind::optimizer_state, parameter);
}

void EagerProgram::resized(const c10::Storage& storage) { meta::announce_size(storage); }

void EagerProgram::empty_cache() {
  run_->recorder->ask_allocator(AllocatorRequest::Kind::empty_cache);
}

std::int64_t EagerProgram::begin_capture(std::int64_t pool, std::int64_t stream) {
  return run_->captures.begin(pool, stream);
}
std::int64_t EagerProgram::stream_in_capture(std::int64_t stream) {
  return run_->captures.stream_of(stream);
}
std::size_t EagerProgram::end_capture() { return run_->captures.end(); }
void EagerProgram::replay(std::size_t capture) { run_->captures.replay(capture); }
void EagerProgram::release_capture(std::size_t capture) { run_->captures.release(capture); }

void EagerProgram::before_first_block(std::function<void()> tell) {
  run_->recorder->before_first_block(std::move(tell));
}

void EagerProgram::limit_memory(std::optional<std::int64_t> bytes) {
  run_->recorder->limit_memory(bytes);
}

void EagerProgram::warn(const std::string& sentence) {
  std::vector<std::string>& warnings = run_->recorder->recording().warnings;
  if (std::ranges::find(warnings, sentence) == warnings.end()) warnings.push_back(sentence);
}

void EagerProgram::raise_errors_by(std::function<void(const Error&)> raise) {
  meta::set_program_error(std::move(raise));
}

bool EagerProgram::has_no_values(const at::Tensor& tensor) { return meta::is_fake(tensor); }

bool EagerProgram::has_upper_bound_size(const at::Tensor& tensor) {
  return meta::has_upper_bound_size(tensor);
}

void EagerProgram::give_values(const at::Tensor& tensor, const at::Tensor& values) {
  meta::give_values(tensor, values);
}

std::string EagerProgram::last_stand_in() const {
  return run_->numbers.last(run_->recorder->recording());
}

const Recording& EagerProgram::recording() const { return run_->recorder->recording(); }

std::size_t EagerProgram::steps() const { return run_->nodes.finished_steps(); }

ProgramRecording EagerProgram::take() {
  run_->tell_numbers();
  run_->tell_upper_bounds();
  run_->tell_kept_numbers();
  run_->tell_streams();
  ProgramRecording program{run_->nodes.steps(), run_->recorder->take(),
                           run_->recorder->take_saves()};
  if (run_->roots.size() == 1) shape::drop_root(program.recording, run_->roots.front());
  run_.reset();
  return program;
}

}  // namespace symprof
