#include "session/mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "session/paths.h"

namespace symprof {
namespace {

int whole_number(std::string_view text) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_good = problem == std::errc() && end == text.data() + text.size();
  return is_good && number >= 1 && number <= 65536 ? number : 0;
}

}  // namespace

plan::Mesh parse_mesh(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all = std::string_view(text).substr(0, colon);
  const std::size_t cross = all.find('x');
  plan::Mesh mesh;
  if (cross != std::string_view::npos) mesh.nodes = whole_number(all.substr(0, cross));
  mesh.devices_per_node =
      whole_number(cross == std::string_view::npos ? all : all.substr(cross + 1));
  if (mesh.nodes < 1 || mesh.devices_per_node < 1 || mesh.devices() > 65536)
    throw Error(SettingRef{"mesh"}, "'" + text + "' is no mesh",
                "Give nodes and devices of each: 2x8; or 8 for one node.");
  if (colon == text.size()) return mesh;
  mesh.links = text.substr(colon + 1);
  links_file(mesh.links);
  return mesh;
}

std::string text_of(const plan::Mesh& mesh) {
  std::string text = std::to_string(mesh.devices_per_node);
  if (mesh.nodes > 1) text = fmt::format("{}x{}", mesh.nodes, text);
  return mesh.links.empty() ? text : fmt::format("{}:{}", text, mesh.links);
}

std::string links_file(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(devices_folder()) / "links";
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    names.push_back(file.path().stem().string());
    if (names.back() == name) return file.path().string();
  }
  std::ranges::sort(names);
  throw Error(SettingRef{"mesh"}, fmt::format("there are no links called '{}'", name),
              fmt::format("Known: {}.", fmt::join(names, ", ")));
}

}  // namespace symprof
