#include "trace/frames/constructors.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "trace/frames/own_calls.h"

namespace symprof::trace {
namespace {

constexpr int deepest = 16;  // Of bases and imports: circles end.

constexpr std::array<std::string_view, 5> sized = {"zeros", "ones", "empty", "rand", "randn"};
constexpr std::array<std::string_view, 5> others = {"full", "tensor", "arange", "linspace", "eye"};

std::string_view word_at_start(std::string_view text) {
  return text.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_word) - text.begin()));
}

/// The elements of `(2, 3), device=device)` or `4)`; 1 where a size is no number.
std::int64_t literal_elements(std::string_view arguments) {
  std::int64_t product = 1;
  while (!arguments.empty()) {
    arguments = trimmed(arguments);
    while (arguments.starts_with('(') || arguments.starts_with('[') || arguments.starts_with(','))
      arguments = trimmed(arguments.substr(1));
    if (arguments.empty() || !is_digit(arguments[0])) break;
    std::int64_t size = 0;
    const auto [end, error] =
        std::from_chars(arguments.data(), arguments.data() + arguments.size(), size);
    if (error != std::errc{} || size > (std::int64_t{1} << 40) / std::max<std::int64_t>(product, 1))
      return 1;
    product *= size;
    arguments.remove_prefix(static_cast<std::size_t>(end - arguments.data()));
    if (arguments.starts_with(')') || arguments.starts_with(']')) break;
  }
  const std::string_view rest = trimmed(arguments);
  const bool is_read =
      rest.empty() || rest[0] == ')' || rest[0] == ']' || rest.find('=') != std::string_view::npos;
  return is_read ? product : 1;
}

/// Whether a number or a list is made of the tensor.
bool is_taken_out(std::string_view text) {
  constexpr std::array<std::string_view, 4> readers = {".item(", ".tolist(", ".numpy(", ".size("};
  return std::ranges::any_of(readers, [&](std::string_view reader) {
    return text.find(reader) != std::string_view::npos;
  });
}

/// What `self.name = torch.zeros(…)` holds; no name for other statements.
HeldTensor held_in(std::string_view text) {
  constexpr std::string_view self = "self.", library = "torch.";
  if (!text.starts_with(self) || is_taken_out(text)) return {};
  const std::string_view name = word_at_start(text.substr(self.size()));
  std::string_view value = trimmed(text.substr(self.size() + name.size()));
  if (!value.starts_with('=') && !value.starts_with(':')) return {};
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos) return {};
  value = trimmed(value.substr(equals + 1));
  if (!value.starts_with(library)) return {};
  const std::string_view function = word_at_start(value.substr(library.size()));
  const std::string_view arguments = value.substr(library.size() + function.size());
  if (!arguments.starts_with('(')) return {};
  if (std::ranges::find(sized, function) != sized.end())
    return {.name = std::string(name), .elements = literal_elements(arguments.substr(1))};
  if (std::ranges::find(others, function) != others.end()) return {.name = std::string(name)};
  return {};
}

/// "nn.Module" and "Base" of `class Name(nn.Module, Base, metaclass=Meta):`.
std::vector<std::string_view> bases_of(std::string_view text) {
  std::vector<std::string_view> bases;
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return bases;
  text = text.substr(open + 1, close - open - 1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (const std::string_view base = trimmed(text.substr(0, comma));
        base.find('=') == std::string_view::npos)
      bases.push_back(base);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return bases;
}

/// The module that `from module import name` takes `name` from; empty where no line does.
std::string module_of_import(const PythonFile& file, std::string_view name) {
  for (const PythonLine& line : file.lines()) {
    const std::string_view text = line.text;
    const std::size_t import = text.find(" import ");
    if (!text.starts_with("from ") || import == std::string_view::npos) continue;
    if (count_word(text.substr(import), name) > 0)
      return std::string(trimmed(text.substr(5, import - 5)));
  }
  return {};
}

/// The absolute name of `.module` in the module `from`, which may be a package itself.
std::string absolute(std::string imported, std::string from, bool is_package) {
  if (!imported.starts_with('.')) return imported;
  const std::size_t name = std::min(imported.find_first_not_of('.'), imported.size());
  for (std::size_t dots = is_package ? 1 : 0; dots < name; ++dots)
    from.resize(from.rfind('.') == std::string::npos ? 0 : from.rfind('.'));
  const std::string rest = imported.substr(name);
  if (rest.empty()) return from;
  return from.empty() ? rest : from + "." + rest;
}

/// The line `class type(…):`; null where the file has none.
const PythonLine* class_line(const PythonFile& file, std::string_view type) {
  constexpr std::string_view keyword = "class ";
  const auto found = std::ranges::find_if(file.lines(), [&](const PythonLine& line) {
    const std::string_view text = line.text;
    return text.starts_with(keyword) && word_at_start(text.substr(keyword.size())) == type;
  });
  return found == file.lines().end() ? nullptr : &*found;
}

/// Adds what the constructor of a class itself holds, and takes away what its `forward` reads.
void add_own(const PythonFile& file, std::string_view type, std::vector<HeldTensor>& held) {
  for (const PythonLine& line : file.lines())
    if (line.class_name == type && line.function == "__init__")
      if (HeldTensor found = held_in(line.text); !found.name.empty()) held.push_back(found);
  for (const PythonLine& line : file.lines())
    if (line.class_name == type && line.function == "forward")
      std::erase_if(held, [&](const HeldTensor& tensor) {
        return uses_of_attribute(line.text, tensor.name) > 0;
      });
}

}  // namespace

std::vector<HeldTensor> Constructors::held_by(std::string_view type) {
  std::vector<HeldTensor> held;
  const std::size_t dot = type.rfind('.');
  if (dot != std::string_view::npos &&
      collect(std::string(type.substr(0, dot)), type.substr(dot + 1), 0, held))
    ++found_;
  return held;
}

const PythonFile* Constructors::module(const std::string& name) {
  const auto [known, is_new] = modules_.try_emplace(name);
  if (is_new) {
    std::string path = name;
    std::ranges::replace(path, '.', '/');
    known->second = read_python(folders_, path + ".py");
    if (!known->second) {
      known->second = read_python(folders_, path + "/__init__.py");
      if (known->second) packages_.insert(name);
    }
  }
  return known->second ? &*known->second : nullptr;
}

/// Adds what the class holds; false where its file is not there.
bool Constructors::collect(const std::string& module_name, std::string_view type, int depth,
                           std::vector<HeldTensor>& held) {
  const PythonFile* file = depth > deepest ? nullptr : module(module_name);
  if (file == nullptr) return false;
  const PythonLine* defined = class_line(*file, type);
  if (defined == nullptr) {  // Another module's, which this one imports.
    const std::string from = module_of_import(*file, type);
    return !from.empty() && collect(absolute(from, module_name, packages_.contains(module_name)),
                                    type, depth + 1, held);
  }
  for (const std::string_view base : bases_of(defined->text))
    if (base != type) collect(module_name, base, depth + 1, held);
  add_own(*file, type, held);
  return true;
}

}  // namespace symprof::trace
