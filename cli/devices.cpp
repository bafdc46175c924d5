// symprof devices: the GPUs of the shipped device files.
#include <memory>

#include "base/device_spec.h"
#include "cli/command.h"
#include "cli/formats.h"
#include "cli/output.h"
#include "report/profile/devices.h"
#include "session/read_text.h"
#include "session/session.h"

namespace symprof::cli {
namespace devices_command {
namespace {

struct Options {
  OutputOptions output;
  std::string format;
};

int run(const Options& options) {
  const Format format = read_format(Verb::devices, options.format);
  check_output(options.output);
  const std::vector<DeviceSpec> devices = shipped_devices();
  fmt::memory_buffer out;
  if (format == Format::json)
    report::write_devices_json(out, devices);
  else
    report::write_devices(out, devices, layout_of(options.output));
  write_result(options.output, out, format);
  return done;
}

}  // namespace
}  // namespace devices_command

Run add_devices(CLI::App& app) {
  using namespace devices_command;
  const auto options = std::make_shared<Options>();
  app.description("The devices that --device knows by name.");
  app.footer(
      "Example:\n  symprof devices\n\n"
      "A file of your own in the same form serves too: symprof profile MODEL --device my_gpu.json");
  add_format_option({app, "Output"}, options->format, Verb::devices);
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace symprof::cli
