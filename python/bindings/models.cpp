#include "python/bindings/models.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "python/bindings/profile_handle.h"
#include "report/compare/bisect.h"
#include "report/compare/values.h"
#include "report/measure/dump.h"
#include "report/profile/chrome_trace.h"
#include "report/profile/json.h"
#include "report/profile/measured.h"
#include "session/files.h"
#include "session/measure/measure.h"
#include "session/onnx/compare.h"
#include "session/onnx/dump.h"

namespace nb = nanobind;

namespace symprof::python {
namespace {

/// A verb's answer: yes or no, its JSON (may be empty), and its other output.
struct Answer {
  bool is_yes = true;
  std::string json, text;
};

template <class Write>
std::string written(const Write& write) {
  fmt::memory_buffer out;
  write(out);
  return fmt::to_string(out);
}

Answer compare(const CompareQuestion& question) {
  const CompareAnswer answer = compare_models(question);
  return {
      answer.is_good(), written([&](auto& out) { report::write_compare_json(out, answer); }), {}};
}

Answer bisect(const BisectQuestion& question, const std::string& prefix) {
  const BisectAnswer answer = bisect_models(question);
  if (answer.found) write_parts(*answer.found, question, prefix);
  return {answer.found.has_value(), {}, written([&](auto& out) {
            report::write_bisect(out, answer, prefix);
          })};
}

std::string json_of(const trace::dump::Dump& dump, const std::string& path) {
  return written(
      [&](auto& out) { report::write_dump_json(out, dump, path, report::leaves_of(dump, "*")); });
}

Answer dump(const DumpQuestion& question, const std::string& file) {
  const trace::dump::Dump made = dump_calls(question);
  symprof::write_dump(made, file);
  return {true, json_of(made, file), {}};
}

Answer restore(const std::string& file, const ReplayQuestion& question) {
  const trace::dump::Dump dump = trace::dump::read_dump(file);
  if (question.path.empty()) return {true, json_of(dump, file), {}};
  const std::vector<workbench::ReplayedCall> calls = replay_dump(dump, question);
  return {are_within(calls, question.path),
          written([&](auto& out) { report::write_replay_json(out, calls, file, question.path); }),
          {}};
}

void export_dump(const std::string& file, const std::string& entry, const std::string& as,
                 const std::string& output) {
  const trace::dump::Dump dump = trace::dump::read_dump(file);
  write_files(output, report::exported(report::leaves_of(dump, entry), as));
}

/// A step on this machine's processor.
struct MeasuredStep {
  MeasureAnswer answer;

  std::string json() const {
    const auto& [settings, profile, run] = answer;
    const measure::Measurement measurement = measure::measurement_of(run, profile.recording);
    return written([&](auto& out) {
      report::write_json(out, profile, settings, spell_as_argument, &measurement);
    });
  }
  /// The run, for `symprof profile --measured`. Throws Error.
  void save(const std::string& file) const { write_file(file, measure::to_json(answer.run)); }
};

MeasuredStep measure_here(const std::string& model, const SettingTexts& texts, int steps,
                          const std::string& estimate) {
  MeasureQuestion question{.model = model,
                           .settings = settings_of(texts),
                           .estimate = estimate,
                           .options = {.device = "cpu", .steps = steps},
                           .show_progress = [](const auto& work) { work(nullptr); }};
  return {std::get<MeasureAnswer>(measure_model(question))};
}

template <class Question>
nb::class_<Question> bind_pair(nb::module_& module, const char* name) {
  return nb::class_<Question>(module, name)
      .def(nb::init<>())
      .def_rw("a", &Question::a)
      .def_rw("b", &Question::b)
      .def_rw("inputs", &Question::inputs)
      .def_rw("set", &Question::sizes)
      .def_rw("input", &Question::shapes)
      .def_rw("seed", &Question::seed)
      .def_rw("random_weights", &Question::random_weights)
      .def_rw("functions", &Question::functions)
      .def_rw("backend", &Question::backend)
      .def_rw("tolerance", &Question::tolerance, nb::arg().none());
}

void bind_questions(nb::module_& module) {
  bind_pair<CompareQuestion>(module, "CompareQuestion")
      .def_rw("mode", &CompareQuestion::mode)
      .def_rw("align", &CompareQuestion::align);
  bind_pair<BisectQuestion>(module, "BisectQuestion");
  nb::class_<DumpQuestion>(module, "DumpQuestion")
      .def(nb::init<>())
      .def_rw("model", &DumpQuestion::path)
      .def_rw("set", &DumpQuestion::sizes)
      .def_rw("input", &DumpQuestion::shapes)
      .def_rw("module", &DumpQuestion::modules)
      .def_rw("node", &DumpQuestion::nodes)
      .def_rw("limit", &DumpQuestion::limit)
      .def_rw("runs", &DumpQuestion::runs)
      .def_rw("seed", &DumpQuestion::seed)
      .def_rw("weights", &DumpQuestion::weights);
  nb::class_<ReplayQuestion>(module, "ReplayQuestion")
      .def(nb::init<>())
      .def_rw("replay", &ReplayQuestion::path)
      .def_rw("set", &ReplayQuestion::sizes)
      .def_rw("input", &ReplayQuestion::shapes)
      .def_rw("entry", &ReplayQuestion::entry)
      .def_rw("tolerance", &ReplayQuestion::tolerance, nb::arg().none());
}

}  // namespace

void bind_models(nb::module_& module) {
  bind_questions(module);
  nb::class_<Answer>(module, "Answer")
      .def_ro("is_yes", &Answer::is_yes)
      .def_ro("json", &Answer::json)
      .def_ro("text", &Answer::text);
  nb::class_<MeasuredStep>(module, "MeasuredStep")
      .def("json", &MeasuredStep::json)
      .def("save", &MeasuredStep::save);
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  module.def("compare_models", &compare, released);
  module.def("bisect_models", &bisect, released);
  module.def("dump_calls", &dump, released);
  module.def("restore_dump", &restore, released);
  module.def("export_dump", &export_dump, released);
  module.def("measure_here", &measure_here, released);
}

}  // namespace symprof::python
