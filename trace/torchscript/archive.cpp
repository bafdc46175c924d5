#include "trace/torchscript/archive.h"

#include <caffe2/serialize/inline_container.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/jit/serialization/import_read.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "meta/fake/error_text.h"
#include "trace/exported/archive.h"

namespace symprof::trace::torchscript {
namespace {

using caffe2::serialize::PyTorchStreamReader;

bool holds_tensor_data(const std::string& record) {
  return record.starts_with("data/") || record.starts_with("constants/") ||
         record.starts_with("traced_inputs/");
}

// A pickle that holds tensors and containers only. `read_record` gives the data of its tensors.
c10::IValue unpickle(PyTorchStreamReader& reader, const std::string& record,
                     const std::function<at::DataPtr(const std::string&)>& read_record) {
  const auto [data, size] = reader.getRecord(record);
  const auto* bytes = static_cast<const char*>(data.get());
  std::size_t position = 0;
  const auto read = [&, end = size](char* buffer, std::size_t count) {
    const std::size_t got = std::min(count, end - position);
    std::memcpy(buffer, bytes + position, got);
    position += got;
    return got;
  };
  torch::jit::Unpickler unpickler(read, nullptr, nullptr, read_record, c10::Device(c10::kCPU));
  return unpickler.parse_ivalue();
}

// The data pointers are record numbers without memory: a tensor's pointer identifies its record.
bool constants_are_whole(PyTorchStreamReader& reader) try {
  if (!reader.hasRecord("constants.pkl")) return true;
  std::vector<std::size_t> sizes = {0};
  const c10::IValue constants = unpickle(reader, "constants.pkl", [&](const std::string& name) {
    sizes.push_back(reader.getRecordSize("constants/" + name));
    return at::DataPtr(reinterpret_cast<void*>(sizes.size() - 1), c10::Device(c10::kCPU));
  });
  for (const c10::IValue& constant : constants.toTupleRef().elements()) {
    if (!constant.isTensor()) continue;
    const c10::Storage& storage = constant.toTensor().storage();
    const auto record = reinterpret_cast<std::size_t>(storage.data());
    if (record >= sizes.size() || storage.nbytes() > sizes[record]) return false;
  }
  return true;
} catch (const std::exception&) {
  return false;  // Constants of a custom class, which only LibTorch's loader can create.
}

// torch.jit.trace keeps its inputs' geometry without their data (addTracedInputs in
// torch/csrc/jit/serialization/export_module.cpp), by method.
std::vector<c10::IValue> example_inputs(PyTorchStreamReader& reader) try {
  if (!reader.hasRecord("traced_inputs.pkl")) return {};
  const auto none = [](const std::string&) { return at::DataPtr(nullptr, c10::Device(c10::kCPU)); };
  const c10::IValue methods = unpickle(reader, "traced_inputs.pkl", none);
  for (const auto& entry : methods.toGenericDict()) {
    if (entry.key().toStringRef() != "forward") continue;
    return entry.value().toList().vec();
  }
  return {};
} catch (const std::exception&) {
  return {};  // The example is optional: without it, --input is required.
}

// One line of Python of a .debug_pkl: (offset, ((numbers of its texts, file, line), begin, end),
// …).
bool is_whole_line(const c10::IValue& line, std::size_t texts) {
  const auto& parts = line.toTupleRef().elements();
  const auto& source = parts.at(1).toTupleRef().elements().at(0).toTupleRef().elements();
  std::vector<std::int64_t> numbers = source.at(0).toIntVector();
  numbers.push_back(source.at(1).toInt());
  return std::ranges::all_of(numbers, [&](std::int64_t number) {
    return number >= 0 && static_cast<std::size_t>(number) < texts;
  });
}

// LibTorch does not validate text indices (ConcreteSourceRangeUnpickler in
// torch/csrc/jit/serialization/source_range_serialization.cpp).
bool lines_are_whole(PyTorchStreamReader& reader) try {
  const auto none = [](const std::string&) { return at::DataPtr(nullptr, c10::Device(c10::kCPU)); };
  for (const std::string& record : reader.getAllRecords()) {
    if (!record.ends_with(".debug_pkl")) continue;
    const c10::IValue whole = unpickle(reader, record, none);
    const auto& parts = whole.toTupleRef().elements();
    if (!parts.at(0).isString()) return false;  // Format of older versions.
    const std::size_t texts = parts.at(1).toTupleRef().elements().size();
    for (const c10::IValue& line : parts.at(2).toTupleRef().elements())
      if (!is_whole_line(line, texts)) return false;
  }
  return true;
} catch (const std::exception&) {
  return false;  // These lines are used only for names.
}

/// Records compressed by a tool other than torch.jit.save: their bytes in the file are not their
/// data.
std::set<std::string> packed_records(const std::string& path) {
  const exported::Archive archive(path);
  std::set<std::string> packed;
  for (std::size_t i = 0; i < archive.records().size(); ++i)
    if (archive.packed_size_at(i) != archive.size_at(i)) packed.insert(archive.records()[i]);
  return packed;
}

}  // namespace

WeightlessFile::WeightlessFile(const std::string& path) {
  const std::set<std::string> packed = packed_records(path);
  PyTorchStreamReader reader(path);
  for (const std::string& record : reader.getAllRecords()) {
    if (!holds_tensor_data(record) || packed.contains(record)) continue;
    const std::size_t bytes = reader.getRecordSize(record);
    if (bytes < least_skipped) continue;
    const std::size_t begin = reader.getRecordOffset(record);
    skipped_[begin] = begin + bytes;
  }
  file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  TORCH_CHECK(file_ >= 0 && fstat(file_, &status) == 0, "the file cannot be opened");
  size_ = static_cast<std::size_t>(status.st_size);
}

WeightlessFile::~WeightlessFile() {
  if (file_ >= 0) close(file_);
}

std::size_t WeightlessFile::read(std::uint64_t position, void* buffer, std::size_t count,
                                 const char*) const {
  auto next = skipped_.upper_bound(position);
  if (next != skipped_.begin() && position + count <= std::prev(next)->second) return count;
  const ssize_t got = pread(file_, buffer, count, static_cast<off_t>(position));
  if (got < 0) return 0;
  bytes_read_ += static_cast<std::size_t>(got);
  return static_cast<std::size_t>(got);
}

// Advice for a file that LibTorch refuses.
std::string advice_for(const std::string& reason) {
  if (reason.find("Unknown builtin op") != reason.npos)
    return "An operator of your own has to be registered before the file is read, with its schema "
           "and a shape rule: docs/tutorial/own_operator.md.";
  if (reason.find("torch.classes") != reason.npos)
    return "Custom classes are code that the file does not have: write the model with tensors in "
           "their place.";
  return "Write it again with torch.jit.save.";
}

Archive read_archive(const std::string& path) try {
  const auto file = std::make_shared<WeightlessFile>(path);
  PyTorchStreamReader reader(file);
  Archive archive;
  archive.constants_are_whole = constants_are_whole(reader);
  archive.example_inputs = example_inputs(reader);
  torch::jit::ExtraFilesMap no_extra_files;
  archive.module =
      torch::jit::load(file, c10::Device(c10::kCPU), no_extra_files, lines_are_whole(reader));
  archive.bytes_read = file->bytes_read();
  return archive;
} catch (const std::exception& error) {
  const std::string reason = meta::first_line(error);
  throw Error(path, "LibTorch cannot read it: " + reason, advice_for(reason));
}

}  // namespace symprof::trace::torchscript
