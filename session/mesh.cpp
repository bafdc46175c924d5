#include "session/mesh.h"

#include <charconv>
#include <string_view>

#include "base/error.h"

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
  const std::size_t cross = text.find('x');
  const std::string_view all = text;
  const plan::Mesh mesh =
      cross == std::string::npos
          ? plan::Mesh{1, whole_number(all)}
          : plan::Mesh{whole_number(all.substr(0, cross)), whole_number(all.substr(cross + 1))};
  if (mesh.nodes < 1 || mesh.devices_per_node < 1 || mesh.devices() > 65536)
    throw Error(SettingRef{"mesh"}, "'" + text + "' is no mesh",
                "Give nodes and devices of each: 2x8; or 8 for one node.");
  return mesh;
}

}  // namespace symprof
