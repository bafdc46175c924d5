// Classifies frames by their file and function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/snapshot.h"

namespace symprof::snapshot {

enum class FileKind : std::uint8_t {
  program,         ///< Python's, of the program itself.
  package,         ///< Of a package other than torch.
  torch_module,    ///< torch/nn/modules/module.py, which calls `forward`.
  python_library,  ///< Other parts of torch, and of Python itself.
  native,          ///< No Python.
};

FileKind kind_of(std::string_view file);
/// "/src/pytorch/torch/" of "/src/pytorch/torch/_tensor.py"; empty of most files.
std::string_view torch_folder(std::string_view file);

/// Files of a snapshot: their kinds, and their names below the folder that the program's files
/// share.
class Files {
 public:
  explicit Files(const Snapshot& snapshot);
  FileKind kind(TextId file) const { return kinds_[file]; }
  const std::string& name(TextId file) const { return names_[file]; }

 private:
  std::vector<FileKind> kinds_;  // By text; those that are no file are "native".
  std::vector<std::string> names_;
};

/// "BmmBackward0" of "torch::autograd::generated::BmmBackward0::apply(…)"; nothing of others.
std::optional<std::string> autograd_node(std::string_view function);
/// "aten::bmm" of "at::_ops::bmm::call(…)"; nothing of others.
std::optional<std::string> operator_name(std::string_view function);

/// True for functions that are in every stack: those of the unwinder and of the allocator.
bool is_of_every_stack(std::string_view function);

/// Shortens an overlong name. Files keep their end, functions their beginning; so no name takes
/// more than a few lines, whatever the file contains.
std::string shortened_file(std::string file);
std::string shortened_function(std::string function);

/// "at::native::foo" of "at::native::foo(at::Tensor const&)".
std::string without_parameters(std::string_view function);

}  // namespace symprof::snapshot
