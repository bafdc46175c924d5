// A .pt2 or .pt file is a zip archive, whose checksums a fuzzer does not hit. This mutator takes it
// apart, changes one record, and packs it again.
#include <zip.h>

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "json_mutator.h"
#include "tests/support/exported_archive.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Records = std::vector<std::pair<std::string, std::string>>;

std::string read_record(zip_t* archive, zip_uint64_t index, std::size_t size) {
  std::string bytes(size, '\0');
  zip_file_t* file = zip_fopen_index(archive, index, 0);
  if (file == nullptr) return "";
  const zip_int64_t got = zip_fread(file, bytes.data(), size);
  zip_fclose(file);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

/// Empty when the bytes are no archive.
Records unpack(const std::uint8_t* data, std::size_t size, std::size_t most) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(data, size, 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  zip_error_fini(&error);
  if (archive == nullptr) {
    zip_source_free(source);
    return {};
  }
  Records records;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    zip_stat_t status;
    if (zip_stat_index(archive, i, 0, &status) != 0 || status.size > most) continue;
    records.emplace_back(status.name, read_record(archive, i, status.size));
  }
  zip_discard(archive);
  return records;
}

std::string mutate_bytes(std::string bytes) {
  const std::size_t size = bytes.size();
  bytes.resize(size + 32);
  auto* data = reinterpret_cast<std::uint8_t*>(bytes.data());
  bytes.resize(LLVMFuzzerMutate(data, size, bytes.size()));
  return bytes;
}

/// Records that readers look into, before those of weights.
std::size_t choose(const Records& records, std::mt19937& random) {
  std::size_t chosen = random() % records.size();
  for (int tries = 0; tries < 8; ++tries, chosen = random() % records.size())
    for (const char* ending : {".json", ".py", ".pkl", ".npy"})
      if (records[chosen].first.ends_with(ending)) return chosen;
  return chosen;
}

void mutate(Records& records, std::mt19937& random) {
  const std::size_t at = choose(records, random);
  auto& [name, bytes] = records[at];
  switch (random() % 32) {
    case 0:
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      name = mutate_bytes(name);
      break;
    case 2:
      bytes = records[random() % records.size()].second;
      break;
    default:
      bytes = name.ends_with(".json") && random() % 16 != 0
                  ? symprof::fuzz::mutate_json(bytes, random)
                  : mutate_bytes(bytes);
  }
}

/// The archive with all records deflated, as tools that pack archives again write it; empty where
/// libzip cannot.
std::string deflated_zip(const Records& records) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, &error);
  zip_error_fini(&error);
  if (archive == nullptr) {
    zip_source_free(target);
    return "";
  }
  zip_source_keep(target);
  for (const auto& [name, bytes] : records) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    if (index < 0)  // Two records of one name, or a name that is no text.
      zip_source_free(source);
    else
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_DEFLATE, 1);
  }
  std::string packed;
  zip_stat_t status;
  if (zip_close(archive) != 0)
    zip_discard(archive);
  else if (zip_source_stat(target, &status) == 0 && zip_source_open(target) == 0) {
    packed.resize(status.size);
    if (zip_source_read(target, packed.data(), packed.size()) < 0) packed.clear();
    zip_source_close(target);
  }
  zip_source_free(target);
  return packed;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  Records records = unpack(data, size, most);
  if (records.empty() || random() % 32 == 0) return LLVMFuzzerMutate(data, size, most);
  mutate(records, random);
  const std::string packed =
      random() % 4 == 0 ? deflated_zip(records) : symprof::test::stored_zip(records);
  if (packed.empty() || packed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}
