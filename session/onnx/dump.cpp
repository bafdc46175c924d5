#include "session/onnx/dump.h"

#include "session/onnx/models.h"
#include "session/setting_table.h"

namespace symprof {

trace::dump::Dump dump_calls(const RunnableModel& model, workbench::DumpOptions how) {
  Settings settings;
  for (const std::string& size : model.sizes) settings::set(settings, "sizes", size);
  how.inputs.sizes = {settings.sizes.begin(), settings.sizes.end()};
  const workbench::ValueRunner runner = value_runner();
  return workbench::dump_runs(open_runnable(model.path, model.sizes, model.shapes, runner), runner,
                              how, model.path);
}

std::vector<workbench::ReplayedCall> replay_dump(const trace::dump::Dump& dump,
                                                 const RunnableModel& model,
                                                 const workbench::ReplayOptions& how) {
  const workbench::ValueRunner runner = value_runner();
  return workbench::replay(dump, open_runnable(model.path, model.sizes, model.shapes, runner),
                           runner, how);
}

}  // namespace symprof
