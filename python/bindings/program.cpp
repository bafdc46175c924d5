#include "python/bindings/program.h"

#include <torch/csrc/Storage.h>
#include <torch/csrc/autograd/python_variable.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "profile/memory/run/program_tapes.h"
#include "profile/memory/step_memory.h"
#include "profile/program.h"
#include "python/bindings/frames.h"
#include "session/session.h"
#include "session/setting_table.h"
#include "shape/eager/program.h"

namespace symprof::python {
namespace {

// The Python package has checked isinstance(…, torch.Tensor).
const at::Tensor& tensor_of(nanobind::handle object) { return THPVariable_Unpack(object.ptr()); }

std::vector<at::Tensor> tensors_of(const std::vector<nanobind::object>& objects) {
  std::vector<at::Tensor> tensors;
  for (const nanobind::object& object : objects) tensors.push_back(tensor_of(object));
  return tensors;
}

const ProgramStep& asked_step(const ProgramRecording& program, std::optional<std::size_t> step,
                              bool between) {
  if (step && (*step == 0 || *step > program.finished))
    throw Error("step",
                fmt::format("found {}, and {} step{} ended", *step, program.finished,
                            program.finished == 1 ? "" : "s"),
                "Steps are counted from 1. Let the program run more of them.");
  const std::size_t index = step ? *step - 1 : std::max<std::size_t>(program.finished, 1) - 1;
  if (!between) return program.steps.at(index);
  const auto found = std::ranges::find(program.between, index, &ProgramSteps::Between::before);
  if (found != program.between.end()) return found->range;
  throw Error("between", "nothing ran without gradients between this step and the one before it",
              "Choose another step.");
}

}  // namespace

Program::Program(const SettingTexts& settings) : settings_(settings_of(settings)) {
  settings_.step.device = device_of(settings_);
  settings_.step.mode = settings_.mode.value_or(Mode::train);
  program_ = std::make_unique<EagerProgram>(settings_.step, place_of_program);
}

Program::~Program() = default;

void Program::set(const std::string& setting, const std::string& text) {
  settings::set(settings_, setting, text);
}

void Program::set_name(const std::string& name) { program_->set_name(name); }

void Program::add_root(const std::string& name) { program_->add_root(name); }
void Program::enter_module(const std::string& path, const std::string& type) {
  program_->enter_module(path, type);
}
void Program::leave_module() { program_->leave_module(); }
void Program::enter_backward(bool makes_graph) { program_->enter_backward(makes_graph); }
void Program::leave_backward() { program_->leave_backward(); }
void Program::enter_optimizer(const std::string& label, const std::string& name) {
  program_->enter_optimizer({label, name});
}
void Program::leave_optimizer() { program_->leave_optimizer(); }
void Program::enter_closure() { program_->enter_closure(); }
void Program::leave_closure() { program_->leave_closure(); }
void Program::enter_graph() { program_->enter_graph(); }
void Program::leave_graph() { program_->leave_graph(); }
void Program::enter_code() { program_->enter_code(); }
void Program::leave_code() { program_->leave_code(); }
void Program::at_kernel(const std::string& path) { program_->at_kernel(path); }
void Program::mark_step() { program_->mark_step(); }

void Program::add_parameter(nanobind::handle parameter, const std::vector<nanobind::object>& parts,
                            std::int64_t elements) {
  program_->add_parameter(tensor_of(parameter), tensors_of(parts), elements);
}
void Program::add_buffer(nanobind::handle buffer) { program_->add_buffer(tensor_of(buffer)); }
void Program::add_input(nanobind::handle input) { program_->add_input(tensor_of(input)); }
void Program::add_gradient(nanobind::handle gradient, nanobind::handle parameter) {
  program_->add_gradient(tensor_of(gradient), tensor_of(parameter));
}
void Program::add_optimizer_state(nanobind::handle state, nanobind::handle parameter) {
  program_->add_optimizer_state(tensor_of(state),
                                parameter.is_none() ? at::Tensor() : tensor_of(parameter));
}

void Program::storage_resized(nanobind::handle storage) {
  EagerProgram::resized(THPStorage_Unpack(storage.ptr()));
}

std::size_t Program::steps() const { return program_->steps(); }

StepMemory Program::memory() const {
  const Recording& recording = program_->recording();
  return profile::simulate_step_memory(
      recording, settings_.step.device,
      {.loop = settings_.loop,
       .program = profile::ProgramRange{.first_call = peaks_from_call_,
                                        .end_call = static_cast<CallId>(recording.calls.size()),
                                        .first_event = peaks_from_event_,
                                        .end_event = recording.events.size(),
                                        .first_request = peaks_from_request_}});
}

void Program::reset_peaks() {
  peaks_from_call_ = static_cast<CallId>(program_->recording().calls.size());
  peaks_from_event_ = program_->recording().events.size();
  peaks_from_request_ = program_->recording().allocator_requests.size();
}

void Program::empty_cache() { program_->empty_cache(); }

std::int64_t Program::begin_capture(std::int64_t pool, std::int64_t stream) {
  return program_->begin_capture(pool, stream);
}
std::int64_t Program::stream_in_capture(std::int64_t stream) {
  return program_->stream_in_capture(stream);
}
std::size_t Program::end_capture() { return program_->end_capture(); }
void Program::replay(std::size_t capture) { program_->replay(capture); }
void Program::release_capture(std::size_t capture) { program_->release_capture(capture); }

void Program::before_first_block(const std::function<void()>& tell) {
  program_->before_first_block(tell);
}

void Program::set_allocator(const std::string& settings) {
  settings_.alloc_conf.clear();
  set("alloc_conf", settings);
}

void Program::set_cublas_workspace(std::int64_t bytes) {
  settings_.step.device.cublas_workspace_bytes = bytes;
}

void Program::limit_memory(std::int64_t bytes) { program_->limit_memory(bytes); }

void Program::warn(const std::string& sentence) { program_->warn(sentence); }

bool Program::has_no_values(nanobind::handle tensor) const {
  return EagerProgram::has_no_values(tensor_of(tensor));
}

bool Program::has_upper_bound_size(nanobind::handle tensor) const {
  return EagerProgram::has_upper_bound_size(tensor_of(tensor));
}

void Program::give_values(nanobind::handle tensor, nanobind::handle values) const {
  EagerProgram::give_values(tensor_of(tensor), tensor_of(values));
}

std::string Program::last_stand_in() const { return program_->last_stand_in(); }

void Program::close() { program_.reset(); }

ProfileHandle Program::finish(const std::vector<std::string>& costed, const AskCost& ask,
                              std::optional<std::size_t> step, bool between) {
  const auto program = std::make_shared<const ProgramRecording>(program_->take());
  const ProgramStep range = asked_step(*program, step, between);
  const OwnCosts own(costed, ask);
  auto [profile, memory] = profile::evaluate_program(*program, range, settings_.step.device,
                                                     settings_.loop, &own.table());
  add_times(profile, settings_, &own.table());
  return {std::move(profile), settings_, program, range, std::move(memory)};
}

RunTapes Program::finish_tapes(const std::vector<std::string>& costed, const AskCost& ask) {
  const ProgramRecording program = program_->take();
  const OwnCosts own(costed, ask);
  RunTapes run{
      profile::tapes_of_program(program, settings_.step.device, settings_.loop, &own.table())};
  if (!run.tapes.empty()) run.tapes.pop_back();
  return run;
}

}  // namespace symprof::python
