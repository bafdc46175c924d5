#include "session/measured.h"

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "measure/kineto/kineto.h"
#include "measure/nodes/on_nodes.h"
#include "measure/run.h"

namespace symprof {
namespace {

/// True if the file begins with the schema of a symprof run.
bool is_run(const std::string& path) {
  std::array<char, 64> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size() - 1);
  return std::string_view(begin.data()).find("\"symprof.run/") != std::string_view::npos;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

measure::Measurement read_measurement(const std::string& path, const Profile& profile) {
  if (is_run(path))
    return measure::measurement_of(measure::parse_run(text_of(path), path), profile.recording);
  return measure::on_nodes(profile.recording, measure::read_kineto(path));
}

}  // namespace symprof
