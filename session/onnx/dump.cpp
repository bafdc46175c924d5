#include "session/onnx/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "session/files.h"
#include "session/inference_settings.h"
#include "session/onnx/models.h"
#include "session/read_text.h"
#include "workbench/dump/run.h"

namespace symprof {
namespace {

workbench::DumpOptions how_of(const DumpQuestion& question) {
  workbench::DumpOptions how;
  how.calls = {question.modules, question.nodes};
  how.runs = question.runs;
  how.inputs.seed = question.seed;
  how.limit_bytes = settings::parse_bytes(SettingRef{"limit"}, question.limit);
  how.keeps_weights = question.weights;
  const Settings settings = inference_settings(question.sizes);
  how.inputs.sizes = {settings.sizes.begin(), settings.sizes.end()};
  return how;
}

void check(const DumpQuestion& question) {
  if (question.modules.empty() && question.nodes.empty())
    throw Error(question.path, "no calls were chosen.",
                fmt::format("Name modules or nodes: {}, {}, {} for the whole model.",
                            setting("module", "layers.*"), setting("node", "MatMul*"),
                            setting("module", "''")));
  if (question.runs < 1)
    throw Error(SettingRef{"runs"}, "a dump needs one run at least.", "Give 1 or more.");
}

workbench::Runnable opened(const RunnableModel& model, const workbench::ValueRunner& runner) {
  return open_runnable(model.path, model.sizes, model.shapes, runner);
}

}  // namespace

trace::dump::Dump dump_calls(const DumpQuestion& question) {
  check(question);
  const workbench::DumpOptions how = how_of(question);
  const workbench::ValueRunner runner = value_runner();
  return workbench::dump_runs(opened(question, runner), runner, how, question.path);
}

void write_dump(const trace::dump::Dump& dump, const std::string& file) {
  const std::string data = file + ".data";
  const trace::dump::Written written =
      trace::dump::write_dump(dump, std::filesystem::path(data).filename().string());
  // The data first, so that a dump never refers to missing data.
  if (!written.data.empty()) write_file(data, written.data);
  write_file(file, written.model);
}

std::vector<workbench::ReplayedCall> replay_dump(const trace::dump::Dump& dump,
                                                 const ReplayQuestion& question) {
  const workbench::ValueRunner runner = value_runner();
  return workbench::replay(dump, opened(question, runner), runner,
                           {question.tolerance, question.entry});
}

bool are_within(const std::vector<workbench::ReplayedCall>& calls, const std::string& model) {
  if (!std::ranges::all_of(calls, &workbench::ReplayedCall::is_within)) return false;
  if (std::ranges::all_of(calls, [](const auto& call) { return !call.not_run.empty(); }))
    throw Error(model, "nothing of the dump could be compared.",
                "Dump calls of modules that this model has: symprof restore lists them.");
  return true;
}

}  // namespace symprof
