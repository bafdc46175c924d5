#include "trace/python/source/constructors.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace symprof::constructors_test {
namespace {

namespace fs = std::filesystem;

/// A package of Python in the temporary folder, removed with this object.
struct Package {
  fs::path folder = fs::temp_directory_path() / "symprof_constructors";

  using Files = std::vector<std::pair<std::string, std::string>>;

  explicit Package(const Files& files) {
    for (const auto& [path, text] : files) {
      fs::create_directories((folder / path).parent_path());
      std::ofstream(folder / path) << text;
    }
  }
  ~Package() { fs::remove_all(folder); }
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  /// "name elements" of what the class holds.
  std::vector<std::string> held_by(const std::string& type) const {
    std::vector<std::string> found;
    for (const trace::HeldTensor& held : trace::Constructors({folder.string()}).held_by(type))
      found.push_back(held.name + " " + std::to_string(held.elements));
    return found;
  }
};

using Held = std::vector<std::string>;

/// A class of this body, `package.models.Model`.
Held held_in(const std::string& body) {
  return Package(Package::Files{{"package/models.py", "class Model(nn.Module):\n" + body}})
      .held_by("package.models.Model");
}

}  // namespace

TEST_SUITE("constructors") {
  TEST_CASE("tensors that a constructor puts into attributes are found, with their sizes") {
    CHECK(held_in("  def __init__(self, device, n):\n"
                  "    self.loss = torch.zeros((1,), device=device)\n"
                  "    self.table = torch.ones(3, 4)\n"
                  "    self.rows = torch.empty(n, 4)\n"
                  "    self.scale: torch.Tensor = torch.tensor(\n        0.5)\n") ==
          Held{"loss 1", "table 12", "rows 1", "scale 1"});
  }

  TEST_CASE("parameters, lists and other objects' tensors are not included") {
    CHECK(held_in("  def __init__(self):\n"
                  "    self.weight = nn.Parameter(torch.zeros(3))\n"
                  "    self.rates = torch.linspace(0, 1, 4).tolist()\n"
                  "    table = torch.zeros(3)\n"
                  "    self.size == torch.zeros(3)\n"
                  "    self.layer.table = torch.zeros(3)\n"
                  "  def reset(self):\n"
                  "    self.state = torch.zeros(3)\n")
              .empty());
  }

  TEST_CASE("an attribute that forward reads is a constant in the file, and not included") {
    CHECK(held_in("  def __init__(self):\n"
                  "    self.used = torch.zeros(3)\n"
                  "    self.loss = torch.zeros(3)\n"
                  "  def forward(self, x):\n"
                  "    return x + self.used\n") == Held{"loss 3"});
  }

  TEST_CASE("bases are looked for where the file imports them from") {
    const std::string base =
        "class Base(nn.Module):\n  def __init__(self):\n    self.loss = torch.zeros(2)\n";
    const Package package({{"package/__init__.py", "from .base import Base\n"},
                           {"package/base.py", base},
                           {"package/models/deep.py",
                            "from ..base import Base as Other, Base\n"
                            "class Deep(Base):\n  pass\n"},
                           {"package/models/wide.py",
                            "from package import Base\n"
                            "class Wide(Base, metaclass=Meta):\n  pass\n"},
                           {"package/models/round.py", "from .round import Round\n"}});
    CHECK(package.held_by("package.models.deep.Deep") == Held{"loss 2"});
    CHECK(package.held_by("package.models.wide.Wide") == Held{"loss 2"});
    CHECK(package.held_by("package.models.round.Round").empty());  // A circle.
    CHECK(package.held_by("package.models.other.Other").empty());
  }

  TEST_CASE("found classes are counted") {
    const Package package(
        Package::Files{{"package/models.py", "class Model(nn.Module):\n  pass\n"}});
    trace::Constructors constructors({package.folder.string()});
    constructors.held_by("package.models.Model");
    constructors.held_by("package.models.Other");
    constructors.held_by("Model");
    CHECK(constructors.found() == 1);
  }
}

}  // namespace symprof::constructors_test
