#include "python/bindings/tables.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "profile/operators/operators.h"
#include "python/bindings/profile_handle.h"
#include "report/write/formats.h"
#include "session/setting_table.h"

namespace symprof::python {
namespace {

/// True if C++ has a cost rule for the operator.
bool knows_costs(const std::string& op) { return profile::find_operator(op).flops != nullptr; }

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const settings::Setting& setting : settings::table()) names.emplace_back(setting.name);
  return names;
}

/// The rows of the table of settings that "run" or "profile_module" obeys: name, placeholder (empty
/// for a flag) and help.
std::vector<std::tuple<std::string, std::string, std::string>> settings_of_verb(
    const std::string& verb) {
  std::vector<std::tuple<std::string, std::string, std::string>> rows;
  for (const settings::Setting* row :
       settings::settings_of(verb == "run" ? Verb::run : Verb::profile_module))
    rows.emplace_back(row->name, row->placeholder,
                      spelled_names(row->help.text(), spell_as_argument));
  return rows;
}

/// The report formats of `symprof run`, the default first.
std::vector<std::string> formats_of_run() {
  std::vector<std::string> names;
  for (const report::FormatRow& row : report::formats_of(Verb::run))
    names.emplace_back(report::name(row.format));
  return names;
}

}  // namespace

void bind_tables(nanobind::module_& module) {
  module.def("spell_settings_as_options", &spell_settings_as_options);
  module.def("setting_names", &setting_names);
  module.def("settings_of", &settings_of_verb);
  module.def("formats_of_run", &formats_of_run);
  module.def("knows_costs", &knows_costs);
}

}  // namespace symprof::python
