// Tensors that the constructors of a model's classes put into attributes, as their Python says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/frames/python_folders.h"

namespace symprof::trace {

/// `self.loss = torch.zeros((1,), device=device)`: an attribute of the module that is neither a
/// parameter nor a buffer, unless something registers that name.
struct HeldTensor {
  std::string name;           ///< "loss"
  std::int64_t elements = 1;  ///< 1 where the line does not say how many.
};

/// Reads classes from files below the user's folders. Nothing in them is run.
class Constructors {
 public:
  explicit Constructors(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// What the constructors of the class and of its bases hold ("package.models.DeepFM"), as far as
  /// their files are there. What `forward` reads is left out: a file has that as a constant.
  std::vector<HeldTensor> held_by(std::string_view type);

  /// How many classes were found that were asked for.
  int found() const { return found_; }

 private:
  const PythonFile* module(const std::string& name);
  bool collect(const std::string& module_name, std::string_view type, int depth,
               std::vector<HeldTensor>& held);

  std::vector<std::string> folders_;
  std::unordered_map<std::string, std::optional<PythonFile>> modules_;  // By dotted name.
  std::unordered_set<std::string> packages_;  // Modules that are a folder's __init__.py.
  int found_ = 0;
};

}  // namespace symprof::trace
