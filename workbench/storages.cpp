#include "workbench/storages.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "trace/exported/tensor_meta.h"

namespace symprof::workbench {
namespace {

std::optional<DType> dtype_of_storage(std::string_view name) {
  constexpr std::pair<std::string_view, DType> rows[] = {
      {"FloatStorage", DType::float32},
      {"DoubleStorage", DType::float64},
      {"HalfStorage", DType::float16},
      {"BFloat16Storage", DType::bfloat16},
      {"LongStorage", DType::int64},
      {"IntStorage", DType::int32},
      {"ShortStorage", DType::int16},
      {"CharStorage", DType::int8},
      {"ByteStorage", DType::uint8},
      {"BoolStorage", DType::boolean},
      {"ComplexFloatStorage", DType::complex64},
      {"ComplexDoubleStorage", DType::complex128}};
  for (const auto& [storage, dtype] : rows)
    if (name.ends_with(storage)) return dtype;
  return std::nullopt;
}

/// The number of elements spanned by a tensor of these sizes and strides; -1 on overflow of 64
/// bits.
std::int64_t extent_of(const nlohmann::json& meta) {
  std::int64_t end = 0;
  if (__builtin_add_overflow(meta.at("storage_offset").at("as_int").get<std::int64_t>(), 1, &end))
    return -1;
  const auto& sizes = meta.at("sizes");
  const auto& strides = meta.at("strides");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = sizes[i].at("as_int").get<std::int64_t>();
    if (size <= 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(size - 1, strides.at(i).at("as_int").get<std::int64_t>(), &step) ||
        __builtin_add_overflow(end, step, &end))
      return -1;
  }
  return end;
}

[[noreturn]] void refuse(const std::string& path) {
  throw Error(path, "does not say how large its tensors are",
              "Write it again with torch.export.save or torch.jit.save.");
}

/// Walks over the operations of a pickle and collects the parts of persistent ids.
class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::map<std::string, Storage> run() {
    while (at_ < bytes_.size() && step()) {
    }
    return std::move(found_);
  }

 private:
  /// Text stays in the pickle: memoized text may be recalled more often than memory allows.
  struct Atom {
    std::string_view text;
    std::int64_t number = 0;
  };

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) refuse(path_);
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  template <class T>
  T integer() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == bytes_.npos) refuse(path_);
    const std::string_view text = take(end - at_);
    take(1);
    return text;
  }
  void push(const Atom& atom) {
    std::shift_left(last_.begin(), last_.end(), 1);
    last_.back() = atom;
  }
  void remember(std::uint32_t slot) { memo_[slot] = last_.back(); }
  void recall(std::uint32_t slot) { push(memo_[slot]); }

  /// Returns false after the last operation.
  bool step() {
    const auto code = static_cast<unsigned char>(take(1)[0]);
    switch (code) {
      case '.':
        return false;
      case 'X':
      case 'B':
      case 'T':
        push({take(integer<std::uint32_t>())});
        break;
      case 'U':
      case 'C':
        push({take(integer<std::uint8_t>())});
        break;
      case 'c':
        line();  // The module.
        push({line()});
        break;
      case 'J':
        push({"", integer<std::int32_t>()});
        break;
      case 'K':
        push({"", integer<std::uint8_t>()});
        break;
      case 'M':
        push({"", integer<std::uint16_t>()});
        break;
      case 0x8a:
        push({"", long_integer()});
        break;
      case 'q':
        remember(integer<std::uint8_t>());
        break;
      case 'r':
        remember(integer<std::uint32_t>());
        break;
      case 'h':
        recall(integer<std::uint8_t>());
        break;
      case 'j':
        recall(integer<std::uint32_t>());
        break;
      case 'Q':
        add_storage();
        break;
      default:
        skip(code);
    }
    return true;
  }

  std::int64_t long_integer() {
    const std::string_view digits = take(integer<std::uint8_t>());
    std::int64_t value = 0;
    std::memcpy(&value, digits.data(), std::min(digits.size(), sizeof value));
    return value;
  }

  void skip(unsigned char code) {
    if (code == 0x80)
      take(1);
    else if (code == 'G')
      take(8);
    else if (std::strchr("(})]tRbeasuN0ldQ", code) == nullptr && (code < 0x81 || code > 0x89))
      refuse(path_);
  }

  void add_storage() {
    const auto& [kind, type, key, device, elements] = last_;
    const auto dtype = dtype_of_storage(type.text);
    if (kind.text != "storage" || !dtype || elements.number < 0) refuse(path_);
    found_[std::string(key.text)] = Storage{*dtype, elements.number};
  }

  std::string_view bytes_;
  const std::string& path_;
  std::size_t at_ = 0;
  std::array<Atom, 5> last_;  ///< The parts of a persistent id.
  std::map<std::uint32_t, Atom> memo_;
  std::map<std::string, Storage> found_;
};

}  // namespace

std::map<std::string, Storage> storages_of_config(std::string_view json, const std::string& path) {
  std::map<std::string, Storage> found;
  try {
    const auto document = nlohmann::json::parse(json);
    for (const auto& [name, entry] : document.at("config").items()) {
      if (entry.value("use_pickle", false) || !entry.contains("tensor_meta")) continue;
      const auto& meta = entry.at("tensor_meta");
      const trace::exported::Place place{path, "config"};
      const DType dtype = trace::exported::dtype_of(meta.at("dtype").get<std::int64_t>(), place);
      const std::int64_t elements = extent_of(meta);
      if (elements < 0) refuse(path);
      Storage& storage = found[entry.at("path_name").get<std::string>()];
      storage.dtype = dtype;
      storage.elements = std::max(storage.elements, elements);
      storage.is_variance |= name.ends_with("running_var");
    }
  } catch (const nlohmann::json::exception&) {
    refuse(path);
  }
  return found;
}

std::map<std::string, Storage> storages_of_pickle(std::string_view pickle,
                                                  const std::string& path) {
  return PickleReader(pickle, path).run();
}

}  // namespace symprof::workbench
