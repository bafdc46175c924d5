// Names that the Python package imports from C++: wrappers of session/, shape/ and report/.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "plan/largest_size.h"
#include "python/bindings/answers.h"
#include "python/bindings/device.h"
#include "python/bindings/frames.h"
#include "python/bindings/inner_tensors.h"
#include "python/bindings/memory.h"
#include "python/bindings/models.h"
#include "python/bindings/plans.h"
#include "python/bindings/profile_handle.h"
#include "python/bindings/program.h"
#include "python/bindings/program_errors.h"
#include "python/bindings/program_values.h"
#include "python/bindings/run_tapes.h"
#include "python/bindings/tables.h"
#include "python/bindings/throughput.h"
#include "session/fit_answer.h"
#include "session/read_job.h"
#include "session/session.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace symprof::python {
namespace {

// A session profiles with other settings without reading its file again.
class Model {
 public:
  explicit Model(const std::string& path) : session_(path) {}

  ProfileHandle profile(const SettingTexts& texts) {
    const PreparedModel model = session_.prepare(settings_of(texts));
    return {session_.profile(model), model.settings};
  }

  FitHandle fit(const SettingTexts& texts, const std::vector<std::string>& devices,
                const std::string& largest, const plan::Job& job) {
    FitAnswer answer = session_.fit(
        settings_of(texts), {.devices = find_devices(devices), .largest = largest, .job = job});
    return {std::move(answer.reports), std::move(answer.settings), std::move(answer.job)};
  }

  FormulaHandle formulas(const SettingTexts& texts, const std::vector<std::string>& dimensions,
                         const TableRequest& request) {
    return formulas_of(session_, settings_of(texts), dimensions, request);
  }

  CheckpointHandle plan_checkpoint(const SettingTexts& texts,
                                   const std::vector<std::string>& budgets,
                                   const std::vector<std::string>& regions) {
    return python::plan_checkpoint(session_, texts, budgets, regions);
  }

  ThroughputHandle plan_throughput(const SettingTexts& texts,
                                   const std::vector<std::string>& devices,
                                   const std::string& budget,
                                   const std::vector<std::string>& regions) {
    return python::plan_throughput(session_, texts, devices, budget, regions);
  }

  ParallelHandle plan_parallel(const SettingTexts& texts, const std::string& mesh,
                               const std::string& layout,
                               const std::optional<std::int64_t>& global_batch,
                               const std::vector<std::string>& blocks) {
    return python::plan_parallel(session_, texts, {mesh, layout, global_batch, blocks});
  }

 private:
  Session session_;
};

void bind_errors(nb::module_& module) {
  raise_errors_of_programs();
  static nb::object error_class = module.attr("Error");
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      const std::string advice = error.advice(spell_as_argument);
      const std::string text =
          error.summary(spell_as_argument) + (advice.empty() ? "" : "\n  " + advice);
      PyErr_SetString(error_class.ptr(), text.c_str());
    }
  });
}

std::optional<std::int64_t> largest_size(std::int64_t start,
                                         const std::function<bool(std::int64_t)>& fits) {
  return plan::find_largest_size(start, std::nullopt, fits).fits;
}

/// `profile_at` may raise RuntimeError or ValueError for sizes with which the program does not run.
FormulaHandle formulas_of_program(
    const std::vector<NamedStart>& dimensions, const SettingTexts& texts,
    const std::function<ProfileHandle(const std::vector<std::int64_t>&)>& profile_at,
    const TableRequest& request) {
  const auto profile_or_refuse = [&](const std::vector<std::int64_t>& sizes) {
    try {
      return profile_at(sizes);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_RuntimeError) && !error.matches(PyExc_ValueError)) throw;
      throw Error("the model", nb::cast<std::string>(nb::str(error.value())),
                  "Ask for formulas in sizes that it runs with.");
    }
  };
  Settings settings = settings_of(texts);
  settings.step.device = device_of(settings);
  return formulas_of(dimensions, settings, profile_or_refuse, request);
}

void bind_answers(nb::module_& module) {
  nb::class_<plan::Job>(module, "Job");
  module.def("job_of",
             [](const std::string& price, const std::string& samples, const std::string& deadline) {
               return settings::read_job({price, samples, deadline});
             });
  nb::class_<FitHandle>(module, "FitHandle")
      .def("text", &FitHandle::text, nb::arg("width").none())
      .def("json", &FitHandle::json)
      .def("fits", &FitHandle::fits);
  nb::class_<FormulaHandle>(module, "FormulaHandle")
      .def("text", &FormulaHandle::text, nb::arg("width").none())
      .def("json", &FormulaHandle::json);
  module.def("largest_size", &largest_size);
  module.def("throughput_of", &throughput_of, nb::arg("devices"), nb::arg("budget"),
             nb::arg("start"), nb::arg("run"));
  module.def("fit_of", &fit_of);
  module.def("joined_fits", &joined);
  module.def("formulas_of", &formulas_of_program);
}

void bind_plans(nb::module_& module) {
  nb::class_<CheckpointHandle>(module, "CheckpointHandle")
      .def("found", &CheckpointHandle::found)
      .def("text", &CheckpointHandle::text, nb::arg("width").none())
      .def("json", &CheckpointHandle::json)
      .def("html", &CheckpointHandle::html)
      .def("code", &CheckpointHandle::code);
  nb::class_<ThroughputHandle>(module, "ThroughputHandle")
      .def("found", &ThroughputHandle::found)
      .def("text", &ThroughputHandle::text, nb::arg("width").none())
      .def("json", &ThroughputHandle::json);
  nb::class_<ParallelHandle>(module, "ParallelHandle")
      .def("found", &ParallelHandle::found)
      .def("text", &ParallelHandle::text, nb::arg("width").none())
      .def("json", &ParallelHandle::json)
      .def("code", &ParallelHandle::code);
  nb::class_<CostsHandle>(module, "CostsHandle")
      .def("text", &CostsHandle::text, nb::arg("width").none())
      .def("json", &CostsHandle::json)
      .def("html", &CostsHandle::html);
  module.def(
      "costs_of",
      [](const ProfileHandle& a, const ProfileHandle& b, const TableRequest& request) {
        return CostsHandle{&a, &b, request};
      },
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
}

void bind_profile(nb::module_& module) {
  nb::class_<TableRequest>(module, "TableRequest")
      .def(nb::init<>())
      .def_rw("by", &TableRequest::by)
      .def_rw("depth", &TableRequest::depth)
      .def_rw("top", &TableRequest::top)
      .def_rw("sort", &TableRequest::sort)
      .def_rw("columns", &TableRequest::columns)
      .def_rw("width", &TableRequest::width);
  nb::class_<ProfileHandle>(module, "ProfileHandle")
      .def("table", &ProfileHandle::table)
      .def("json", &ProfileHandle::json, "measured_memory"_a.none() = nb::none())
      .def("measured_memory", &ProfileHandle::measured_memory, "path"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("csv", &ProfileHandle::csv)
      .def("html", &ProfileHandle::html)
      .def("markdown", &ProfileHandle::markdown)
      .def("memory_snapshot", [](const ProfileHandle& handle) {
        const std::string bytes = handle.memory_snapshot();
        return nb::bytes(bytes.data(), bytes.size());
      });
  nb::class_<Model>(module, "Model")
      .def(nb::init<const std::string&>())
      .def("profile", &Model::profile, nb::call_guard<nb::gil_scoped_release>())
      .def("fit", &Model::fit, nb::call_guard<nb::gil_scoped_release>())
      .def("formulas", &Model::formulas, nb::call_guard<nb::gil_scoped_release>())
      .def("plan_checkpoint", &Model::plan_checkpoint, nb::call_guard<nb::gil_scoped_release>())
      .def("plan_throughput", &Model::plan_throughput, nb::call_guard<nb::gil_scoped_release>())
      .def("plan_parallel", &Model::plan_parallel, nb::arg("settings"), nb::arg("mesh"),
           nb::arg("layout"), nb::arg("global_batch").none(), nb::arg("blocks"),
           nb::call_guard<nb::gil_scoped_release>());
}

void bind_memory_of(nb::class_<Program>& program) {
  program.def("memory", &Program::memory)
      .def("reset_peaks", &Program::reset_peaks)
      .def("empty_cache", &Program::empty_cache)
      .def("before_first_block", &Program::before_first_block)
      .def("set_allocator", &Program::set_allocator)
      .def("set_cublas_workspace", &Program::set_cublas_workspace)
      .def("cublas_workspace", &Program::cublas_workspace)
      .def("limit_memory", &Program::limit_memory)
      .def("warn", &Program::warn)
      .def("begin_capture", &Program::begin_capture)
      .def("stream_in_capture", &Program::stream_in_capture)
      .def("end_capture", &Program::end_capture)
      .def("replay", &Program::replay)
      .def("release_capture", &Program::release_capture);
}

void bind_program(nb::module_& module) {
  nb::class_<Program> program(module, "Program");
  bind_memory_of(program);
  program.def(nb::init<const SettingTexts&>())
      .def("set", &Program::set)
      .def("set_name", &Program::set_name)
      .def("add_root", &Program::add_root)
      .def("enter_module", &Program::enter_module)
      .def("leave_module", &Program::leave_module)
      .def("enter_backward", &Program::enter_backward)
      .def("leave_backward", &Program::leave_backward)
      .def("enter_optimizer", &Program::enter_optimizer)
      .def("leave_optimizer", &Program::leave_optimizer)
      .def("enter_closure", &Program::enter_closure)
      .def("leave_closure", &Program::leave_closure)
      .def("enter_graph", &Program::enter_graph)
      .def("leave_graph", &Program::leave_graph)
      .def("enter_code", &Program::enter_code)
      .def("leave_code", &Program::leave_code)
      .def("at_kernel", &Program::at_kernel)
      .def("mark_step", &Program::mark_step)
      .def("add_parameter", &Program::add_parameter)
      .def("add_buffer", &Program::add_buffer)
      .def("add_input", &Program::add_input)
      .def("add_gradient", &Program::add_gradient)
      .def("add_optimizer_state", &Program::add_optimizer_state, nb::arg("state"),
           nb::arg("parameter").none())
      .def("storage_resized", &Program::storage_resized)
      .def("steps", &Program::steps)
      .def("has_no_values", &Program::has_no_values)
      .def("has_upper_bound_size", &Program::has_upper_bound_size)
      .def("give_values", &Program::give_values)
      .def("last_stand_in", &Program::last_stand_in)
      .def("device", &Program::device)
      .def("close", &Program::close)
      .def("finish", &Program::finish, "costed"_a, "ask"_a, "step"_a.none(), "between"_a)
      .def("finish_tapes", &Program::finish_tapes);
}

}  // namespace
}  // namespace symprof::python

NB_MODULE(_native, module) {
  using namespace symprof::python;
  module.attr("Error") = nb::module_::import_("symprof._error").attr("Error");
  nb::set_leak_warnings(false);  // An interpreter that exits by an exception leaks objects.
  bind_errors(module);
  bind_tables(module);
  bind_profile(module);
  bind_answers(module);
  bind_plans(module);
  bind_memory(module);
  bind_models(module);
  bind_device(module);
  bind_run_tapes(module);
  bind_program(module);
  bind_inner_tensors(module);
  bind_program_values(module);
  module.def("set_library_folders", &set_library_folders);
}
