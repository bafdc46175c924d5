// symprof devices: the GPUs that a profile can be made for.
#include <memory>

#include "base/device_spec.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/devices.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace {

enum class Format { table, json };
constexpr settings::Named<Format> formats[] = {{"table", Format::table}, {"json", Format::json}};

struct Options {
  OutputOptions output;
  std::string format = "table";
};

int run(const Options& options) {
  const Format format = settings::choose(SettingRef{"format"}, options.format, formats);
  check_output(options.output);
  const std::vector<DeviceSpec> devices = shipped_devices();
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_devices_json(out, devices);
  else
    report::write_devices(out, devices, layout_of(options.output));
  write_output(options.output, {out.data(), out.size()},
               format == Format::json ? Readers::programs : Readers::people);
  return done;
}

}  // namespace

Run add_devices(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.description("The devices that --device knows by name.");
  app.footer(
      "Example:\n  symprof devices\n\n"
      "A file of your own in the same form serves too: symprof profile MODEL --device my_gpu.json");
  app.add_option("--format", options->format, "table or json")
      ->type_name("FORMAT")
      ->group("Output");
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
