#include "report/measure/dump_export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/error.h"
#include "base/packed_bits.h"
#include "report/write/json_writer.h"
#include "session/read_text.h"
#include "trace/numpy/array_archive.h"

namespace symprof::report {
namespace {

using trace::dump::Value;

std::string plain_name(std::string text) {
  for (char& letter : text) {
    const bool is_plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                          (letter >= 'A' && letter <= 'Z') || letter == '.' || letter == '_' ||
                          letter == '-';
    if (!is_plain) letter = '_';
  }
  return text.find_first_not_of('.') == text.npos ? "_" + text : text;
}

[[noreturn]] void refuse_empty(const std::string& name) {
  throw Error(name, "the dump has random numbers in its place, so it has no data",
              "Write the dump without randomize=True.");
}

void check_has_data(const Value& value, const std::string& name) {
  if (value.tensor && value.tensor->data.empty() && value.tensor->spec.numel() != 0)
    refuse_empty(name);
}

/// numpy.dtype.str (numpy/lib/format.py); dtypes below a byte take a byte per element.
std::string numpy_code(DType dtype) {
  if (std::string descr = trace::numpy::descr_of(dtype); !descr.empty()) return descr;
  switch (dtype) {
    case DType::int4:
    case DType::int2:
      return "|i1";
    case DType::uint4:
    case DType::uint2:
    case DType::float4_e2m1:
      return "|u1";
    case DType::complex64:
      return "<c8";
    case DType::complex128:
      return "<c16";
    case DType::bfloat16:
      return "|V2";
    default:
      return "|V1";
  }
}

std::vector<std::uint32_t> letters_of(const std::string& text) {
  std::vector<std::uint32_t> letters;
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto left = static_cast<utf8proc_ssize_t>(text.size());
  while (left > 0) {
    utf8proc_int32_t letter = 0;
    const utf8proc_ssize_t read =
        std::max<utf8proc_ssize_t>(utf8proc_iterate(at, left, &letter), 1);
    letters.push_back(letter < 0 ? 0xfffd : static_cast<std::uint32_t>(letter));
    at += read;
    left -= read;
  }
  return letters;
}

/// "<U3": UTF-32, each text padded to the longest.
std::pair<std::string, std::string> texts_as_array(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::uint32_t>> rows;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    rows.push_back(letters_of(text));
    width = std::max(width, rows.back().size());
  }
  std::string bytes;
  for (std::vector<std::uint32_t>& row : rows) {
    row.resize(width);
    bytes.append(reinterpret_cast<const char*>(row.data()), width * sizeof(std::uint32_t));
  }
  return {fmt::format("<U{}", width), std::move(bytes)};
}

std::string text_of_bytes(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// safetensors/src/tensor.rs, Dtype.
std::string_view safetensors_name(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "BOOL";
    case DType::uint8:
      return "U8";
    case DType::int8:
      return "I8";
    case DType::float8_e5m2:
      return "F8_E5M2";
    case DType::float8_e4m3fn:
      return "F8_E4M3";
    case DType::float8_e8m0fnu:
      return "F8_E8M0";
    case DType::int16:
      return "I16";
    case DType::uint16:
      return "U16";
    case DType::float16:
      return "F16";
    case DType::bfloat16:
      return "BF16";
    case DType::int32:
      return "I32";
    case DType::uint32:
      return "U32";
    case DType::float32:
      return "F32";
    case DType::complex64:
      return "C64";
    case DType::float64:
      return "F64";
    case DType::int64:
      return "I64";
    case DType::uint64:
      return "U64";
    default:
      return "";
  }
}

void write_safetensors_entry(JsonWriter& json, const NamedLeaf& leaf, std::int64_t& at) {
  const TensorSpec& spec = leaf.value->tensor->spec;
  const std::string_view name = safetensors_name(spec.dtype);
  if (name.empty())
    throw Error(leaf.name, fmt::format("safetensors has no {}", symprof::name(spec.dtype)),
                "Ask for npy or raw, or choose other entries.");
  json.key(leaf.name);
  json.begin_object();
  json.member("dtype", name);
  json.list("shape", spec.sizes);
  const std::int64_t end = at + static_cast<std::int64_t>(leaf.value->tensor->data.size());
  json.list("data_offsets", std::vector<std::int64_t>{at, end});
  json.end_object();
  at = end;
}

}  // namespace

std::vector<NamedLeaf> leaves_of(const trace::dump::Dump& dump, const std::string& glob) {
  std::vector<NamedLeaf> leaves;
  std::set<std::string> names;
  for (const trace::dump::Entry& entry : dump.entries) {
    if (fnmatch(glob.c_str(), entry.name.c_str(), 0) != 0) continue;
    const auto letter = trace::dump::letter_of(entry.side);
    const std::string start =
        letter.empty() ? entry.name : fmt::format("{}-{}-{}", entry.name, entry.iteration, letter);
    trace::dump::for_each_leaf(entry.value, [&](const std::string& path, const Value& leaf) {
      if (!leaf.tensor && !leaf.is_text()) return;
      std::string name = plain_name(path.empty() ? start : fmt::format("{}-{}", start, path));
      const std::string first = name;
      for (int i = 2; !names.insert(name).second; ++i) name = fmt::format("{}-{}", first, i);
      leaves.push_back({std::move(name), path, &leaf});
    });
  }
  return leaves;
}

std::string npy_bytes(const Value& value) {
  if (value.is_text()) {
    const auto [code, bytes] = texts_as_array(value.strings);
    return trace::numpy::file_bytes(code, value.string_sizes, bytes);
  }
  check_has_data(value, "npy");
  const TensorSpec& spec = value.tensor->spec;
  const std::vector<std::byte>& data = value.tensor->data;
  const bool is_packed = element_bits(spec.dtype) < 8;
  return trace::numpy::file_bytes(
      numpy_code(spec.dtype), spec.sizes,
      text_of_bytes(is_packed ? unpack_bits(data, spec.dtype, spec.numel()) : data));
}

std::string npz_bytes(std::span<const NamedLeaf> leaves) {
  std::vector<std::pair<std::string, std::string>> files;
  files.reserve(leaves.size());
  for (const NamedLeaf& leaf : leaves) {
    check_has_data(*leaf.value, leaf.name);
    files.emplace_back(leaf.name, npy_bytes(*leaf.value));
  }
  return trace::numpy::archive_bytes(files);
}

std::string safetensors_bytes(std::span<const NamedLeaf> leaves) {
  fmt::memory_buffer out;
  JsonWriter json(out);
  std::int64_t at = 0;
  json.begin_object();
  json.key("__metadata__");
  json.begin_object();
  for (const NamedLeaf& leaf : leaves)
    if (leaf.value->is_text())
      json.member(leaf.name, fmt::format("{}", fmt::join(leaf.value->strings, "\n")));
  json.end_object();
  // Readers require every tensor aligned to its element size: the largest elements come first.
  std::vector<const NamedLeaf*> tensors;
  for (const NamedLeaf& leaf : leaves) {
    check_has_data(*leaf.value, leaf.name);
    if (!leaf.value->is_text()) tensors.push_back(&leaf);
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const NamedLeaf* a, const NamedLeaf* b) {
    return element_bytes(a->value->tensor->spec.dtype) >
           element_bytes(b->value->tensor->spec.dtype);
  });
  for (const NamedLeaf* leaf : tensors) write_safetensors_entry(json, *leaf, at);
  json.end_object();
  std::string header(out.data(), out.size());
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string file;
  for (int byte = 0; byte < 8; ++byte)
    file += static_cast<char>((header.size() >> (8 * byte)) & 0xff);
  file += header;
  for (const NamedLeaf* leaf : tensors) file += text_of_bytes(leaf->value->tensor->data);
  return file;
}

std::string raw_bytes(const Value& value) {
  std::string bytes;
  if (value.is_text())
    for (const std::string& text : value.strings) bytes += text + '\0';
  if (!value.tensor) return bytes;
  check_has_data(value, "raw");
  return text_of_bytes(value.tensor->data);
}

namespace {

enum class Form : std::uint8_t { npy, npz, raw, safetensors };
constexpr settings::Named<Form> forms[] = {
    {"npy", Form::npy}, {"npz", Form::npz}, {"raw", Form::raw}, {"safetensors", Form::safetensors}};

using NamedFile = std::pair<std::string, std::string>;

NamedFile file_of(const NamedLeaf& leaf, Form form) try {
  return form == Form::npy ? NamedFile{leaf.name + ".npy", npy_bytes(*leaf.value)}
                           : NamedFile{leaf.name + ".bin", raw_bytes(*leaf.value)};
} catch (const Error& error) {
  throw error.at(leaf.name);
}

}  // namespace

std::vector<NamedFile> exported(const std::vector<NamedLeaf>& leaves, const std::string& as) {
  const Form form = settings::choose(SettingRef{"as"}, as, forms);
  if (leaves.empty())
    throw Error(SettingRef{"entry"}, "no tensor is left to export.",
                "symprof restore lists the entries.");
  if (form == Form::npz) return {{"", npz_bytes(leaves)}};
  if (form == Form::safetensors) return {{"", safetensors_bytes(leaves)}};
  std::vector<NamedFile> files;
  files.reserve(leaves.size());
  for (const NamedLeaf& leaf : leaves) files.push_back(file_of(leaf, form));
  return files;
}

}  // namespace symprof::report
