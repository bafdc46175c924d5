#include "session/measure/calibrate.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/cuda_kernels.h"
#include "base/error.h"
#include "base/setting.h"
#include "session/files.h"
#include "session/measure/apart.h"
#include "session/measure/real_device.h"

namespace symprof {
namespace {

double parse_minutes(const std::string& text) {
  double minutes = -1;
  std::size_t end = 0;
  try {
    minutes = std::stod(text, &end);
  } catch (const std::exception&) {
    end = std::string::npos;
  }
  constexpr double most = 24 * 60;
  if (end == text.size() && minutes >= 0 && minutes <= most) return minutes;
  throw Error(SettingRef{"minutes"}, "'" + text + "' is no number of minutes up to a day.",
              fmt::format("2 is usual; 0 only fits what {} has.", setting("measurements")));
}

measure::Calibration read_measurements(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  std::ifstream file(path);
  return measure::parse_calibration({std::istreambuf_iterator<char>(file), {}}, path);
}

/// Two devices' kernels in one file would be fitted as one device's.
void check_is_same(const measure::Calibration& known, const std::string& device,
                   const std::string& path) {
  const std::string& other = known.facts.device;
  if (known.kernels.empty() || other.empty() || (other == "cpu") == (device == "cpu")) return;
  throw Error(path, "was measured on " + other + ", and " + device + " is asked for",
              "Give each device a file of its own.");
}

measure::Calibration measured(CalibrationQuestion question, const ShowProgress& show_progress) {
  measure::Calibration found;
  show_progress([&](const Progress& progress) {
    question.progress = progress;
    found = measure_kernels(question);
  });
  return found;
}

}  // namespace

CalibrationQuestion read_calibration(const CalibrationTexts& texts) {
  CalibrationQuestion question{.device = parse_real_device(texts.device),
                               .minutes = parse_minutes(texts.minutes),
                               .known = read_measurements(texts.measurements),
                               .progress = {},
                               .is_stopped = {},
                               .keep = {}};
  check_is_same(question.known, question.device, texts.measurements);
  if (!texts.measurements.empty())
    question.keep = [file = texts.measurements](const measure::Calibration& now) {
      write_file(file, measure::to_json(now));
    };
  return question;
}

std::variant<measure::Calibration, int> measure_known_kernels(const CalibrationQuestion& question,
                                                              const ShowProgress& show_progress) {
  if (question.minutes <= 0) return question.known;
  measure::Calibration calibration;
  if (question.device == "cpu") {
    calibration = measured(question, show_progress);
  } else {  // As `symprof measure` does: CUDA's real answers stay there.
    const Apart found = run_apart([&] {
      want_cuda_kernels();
      return measure::to_json(measured(question, show_progress));
    });
    if (const int* code = std::get_if<int>(&found)) return *code;
    calibration =
        measure::parse_calibration(std::get<std::string>(found), "the process that measures");
  }
  if (question.keep) question.keep(calibration);
  return calibration;
}

}  // namespace symprof
