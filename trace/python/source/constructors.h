// Tensors that the constructors of a model's classes store in attributes, read from their Python
// source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/python/source/python_folders.h"

namespace symprof::trace {

/// `self.loss = torch.zeros((1,), device=device)`: an attribute of the module that is neither a
/// parameter nor a buffer, unless something registers that name.
struct HeldTensor {
  std::string name;           ///< "loss"
  std::int64_t elements = 1;  ///< 1 if the line does not tell.
};

/// Reads classes from files below the user's folders. Nothing in them is run.
class Constructors {
 public:
  explicit Constructors(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  /// The tensors that the constructors of the class and of its bases store
  /// ("package.models.DeepFM"), as far as their files exist. Attributes that `forward` reads are
  /// left out: the file has them as constants.
  std::vector<HeldTensor> held_by(std::string_view type);

  /// The number of requested classes that were found.
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
