#include "snapshot/frame_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace symprof::snapshot {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

constexpr std::size_t most_letters = 400;

/// Letters beyond ASCII are several bytes.
bool is_inside_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// "a/b/" of "a/b/c.py" and "a/b/d/e.py".
std::string shared_folder(const std::vector<std::string>& files) {
  std::optional<std::string> shared;
  for (const std::string& file : files) {
    const std::string folder = file.substr(0, file.rfind('/') + 1);
    if (!shared) shared = folder;
    std::size_t same = 0;
    while (same < shared->size() && same < folder.size() && (*shared)[same] == folder[same]) ++same;
    shared->resize(same);
    shared->resize(shared->rfind('/') + 1);
  }
  return shared.value_or("");
}

/// The part of the path after ".../site-packages/", which begins with the package's name.
std::string below_packages(const std::string& file) {
  constexpr std::string_view packages = "-packages/";
  const std::size_t at = file.rfind(packages);
  return at == std::string::npos ? file : file.substr(at + packages.size());
}

}  // namespace

std::string_view torch_folder(std::string_view file) {
  constexpr std::array<std::string_view, 5> known{"nn/modules/module.py", "_tensor.py",
                                                  "optim/optimizer.py", "autograd/__init__.py",
                                                  "utils/_contextlib.py"};
  constexpr std::string_view torch = "/torch/";
  for (const std::string_view inside : known)
    if (file.ends_with(inside) && file.substr(0, file.size() - inside.size()).ends_with(torch))
      return file.substr(0, file.size() - inside.size());
  return {};
}

FileKind kind_of(std::string_view file) {
  if (!file.ends_with(".py") && !file.starts_with('<')) return FileKind::native;
  if (file.ends_with("torch/nn/modules/module.py")) return FileKind::torch_module;
  const bool is_of_torch = has(file, "-packages/torch/") || has(file, "torchinductor_");
  const bool is_of_python =
      file.starts_with("<frozen") || (has(file, "/lib/python3") && !has(file, "-packages/"));
  if (is_of_torch || is_of_python) return FileKind::python_library;
  return has(file, "-packages/") ? FileKind::package : FileKind::program;
}

Files::Files(const Snapshot& snapshot) {
  const Stacks& stacks = snapshot.stacks;
  kinds_.assign(stacks.text_count(), FileKind::native);
  names_.resize(stacks.text_count());
  std::vector<std::string> own;
  std::string_view torch;  // Where it is, if not among packages: built in its source, say.
  for (TextId file = 0; file < stacks.text_count() && torch.empty(); ++file)
    torch = torch_folder(stacks.text(file));
  for (std::size_t i = 0; i < stacks.frame_count(); ++i) {
    const TextId file = stacks.frame(static_cast<FrameId>(i)).file;
    if (!names_[file].empty() || stacks.text(file).empty()) continue;
    kinds_[file] = kind_of(stacks.text(file));
    if (kinds_[file] == FileKind::program && !torch.empty() && stacks.text(file).starts_with(torch))
      kinds_[file] = FileKind::python_library;
    const std::string plain =
        shortened_file(std::filesystem::path(stacks.text(file)).lexically_normal().string());
    names_[file] = below_packages(plain);
    if (kinds_[file] == FileKind::program && names_[file] == plain && plain.front() != '<')
      own.push_back(plain);
  }
  const std::string shared = shared_folder(own);
  for (TextId file = 0; file < names_.size(); ++file)
    if (kinds_[file] == FileKind::program && names_[file].starts_with(shared))
      names_[file].erase(0, shared.size());
}

std::optional<std::string> autograd_node(std::string_view function) {
  constexpr std::string_view space = "torch::autograd::", end = "::apply(";
  if (!function.starts_with(space)) return {};
  const std::size_t stop = function.find(end);
  if (stop == std::string_view::npos) return {};
  const std::size_t begin = function.rfind(':', stop - 1) + 1;
  return std::string(function.substr(begin, stop - begin));
}

std::optional<std::string> operator_name(std::string_view function) {
  constexpr std::string_view space = "at::_ops::";
  if (!function.starts_with(space)) return {};
  const std::size_t stop = function.find(':', space.size());
  if (stop == std::string_view::npos) return {};
  return fmt::format("aten::{}", function.substr(space.size(), stop - space.size()));
}

bool is_of_every_stack(std::string_view function) {
  constexpr std::array parts{"unwind::unwind",  "CapturedTraceback::gather",
                             "gather_with_cpp", "CachingAllocator",
                             "empty_generic",   "empty_cuda"};
  return std::ranges::any_of(parts, [&](const char* part) { return has(function, part); });
}

std::string shortened_file(std::string file) {
  if (file.size() <= most_letters) return file;
  std::size_t begin = file.size() - most_letters;
  while (begin < file.size() && is_inside_letter(file[begin])) ++begin;
  return file.substr(begin);
}

std::string shortened_function(std::string function) {
  if (function.size() <= most_letters) return function;
  std::size_t end = most_letters;
  while (end > 0 && is_inside_letter(function[end])) --end;
  return function.substr(0, end);
}

std::string without_parameters(std::string_view function) {
  constexpr std::string_view anonymous = "(anonymous namespace)";
  std::size_t from = function.find(anonymous);
  from = from == std::string_view::npos ? 0 : from + anonymous.size();
  return std::string(function.substr(0, function.find('(', from)));
}

}  // namespace symprof::snapshot
