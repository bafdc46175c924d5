#include "trace/python/source/constructors.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "trace/python/source/own_calls.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

constexpr int deepest = 16;  // Of bases and imports: circles end.

constexpr std::array<std::string_view, 5> sized = {"zeros", "ones", "empty", "rand", "randn"};
constexpr std::array<std::string_view, 5> others = {"full", "tensor", "arange", "linspace", "eye"};

/// The elements of `(2, 3), device=device` or `4`; 1 where a size is no number.
std::int64_t literal_elements(const std::vector<Tokens>& arguments) {
  std::int64_t product = 1;
  for (const Tokens argument : arguments) {
    if (argument.size() > 1 && is_sign(argument[1], "=")) break;  // Sizes come before keywords.
    for (const Token& token : argument) {
      if (token.kind == TokenKind::sign &&
          std::string_view("()[],").find(token.text) != token.text.npos)
        continue;
      std::int64_t size = 0;
      const char* const end = token.text.data() + token.text.size();
      const bool is_size = token.kind == TokenKind::number &&
                           std::from_chars(token.text.data(), end, size).ptr == end;
      if (!is_size || size > (std::int64_t{1} << 40) / std::max<std::int64_t>(product, 1)) return 1;
      product *= size;
    }
    if (is_bracketed(argument)) break;
  }
  return product;
}

/// True if a number or a list is made from the tensor.
bool is_taken_out(const std::vector<WrittenCall>& calls) {
  constexpr std::array<std::string_view, 4> readers = {"item", "tolist", "numpy", "size"};
  return std::ranges::any_of(calls, [&](const WrittenCall& call) {
    return call.is_method && std::ranges::find(readers, call.function) != readers.end();
  });
}

/// The tensor of `self.name = torch.zeros(…)`; no name for other statements.
HeldTensor held_in(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.size() < 4 || tokens[0] != "self" || path_length(tokens) != 3) return {};
  const Tokens value = Tokens(tokens).subspan(std::min(find_sign(tokens, "=") + 1, tokens.size()));
  const bool is_torch = path_length(value) == 3 && value[0] == "torch" && value.size() > 3;
  if (!is_torch || !is_sign(value[3], "(")) return {};
  const std::vector<WrittenCall> calls = calls_in(value);
  if (is_taken_out(calls)) return {};
  const std::string_view function = value[2].text;
  HeldTensor held{.name = std::string(tokens[2].text)};
  if (std::ranges::find(sized, function) != sized.end()) {
    const auto call = std::ranges::find(calls, function, &WrittenCall::function);
    held.elements = literal_elements(call->arguments);
    return held;
  }
  return std::ranges::find(others, function) != others.end() ? held : HeldTensor{};
}

/// "nn.Module" and "Base" of `class Name(nn.Module, Base, metaclass=Meta):`.
std::vector<std::string> bases_of(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  const std::vector<WrittenCall> calls = calls_in(tokens);
  std::vector<std::string> bases;
  if (calls.empty()) return bases;
  for (const Tokens base : calls.back().arguments)
    if (find_sign(base, "=") == base.size()) bases.emplace_back(text_of(base));
  return bases;
}

/// The module that `from module import name` takes `name` from; empty where no line does.
std::string module_of_import(const PythonFile& file, std::string_view name) {
  for (const PythonLine& line : file.lines()) {
    const std::vector<Token> tokens = tokens_of(line.text);
    const auto import = std::ranges::find(tokens, std::string_view("import"), &Token::text);
    if (tokens.empty() || tokens[0] != "from" || import == tokens.end()) continue;
    if (std::ranges::find(import, tokens.end(), name, &Token::text) != tokens.end())
      return std::string(text_of({tokens.begin() + 1, import}));
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

/// The line `class type(…):`; null if the file has none.
const PythonLine* class_line(const PythonFile& file, std::string_view type) {
  const auto found = std::ranges::find_if(file.lines(), [&](const PythonLine& line) {
    if (!line.text.starts_with("class")) return false;
    const std::vector<Token> tokens = tokens_of(line.text);
    return tokens.size() > 1 && tokens[0] == "class" && tokens[1] == type;
  });
  return found == file.lines().end() ? nullptr : &*found;
}

/// Adds the tensors of a class's own constructor, without those that its `forward` reads.
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

/// Adds the tensors of the class; false if its file does not exist.
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
  for (const std::string& base : bases_of(defined->text))
    if (base != type) collect(module_name, base, depth + 1, held);
  add_own(*file, type, held);
  return true;
}

}  // namespace symprof::trace
