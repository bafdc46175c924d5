#include "tests/support/exported_archive.h"

#include <unistd.h>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <fstream>

#include "trace/exported/reader.h"

namespace symprof::test {
namespace {

/// CRC-32 of zip files (APPNOTE.TXT 4.4.7): what each byte adds.
std::array<std::uint32_t, 256> checksum_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit)
      table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xedb88320U : 0);
  }
  return table;
}

std::uint32_t checksum(const std::string& bytes) {
  static const std::array<std::uint32_t, 256> table = checksum_table();
  std::uint32_t crc = ~0U;
  for (unsigned char byte : bytes) crc = crc >> 8 ^ table[(crc ^ byte) & 0xff];
  return ~crc;
}

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
}

/// The fields that a local header and an entry of the central directory have in common.
void put_entry(std::string& out, const std::string& name, const std::string& data) {
  put(out, 20, 2);  // Version needed.
  put(out, 0, 2);   // Flags.
  put(out, 0, 2);   // Stored.
  put(out, 0, 4);   // Time and date.
  put(out, checksum(data), 4);
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  put(out, static_cast<std::uint32_t>(data.size()), 4);
  put(out, static_cast<std::uint32_t>(name.size()), 2);
  put(out, 0, 2);  // No extra field.
}

}  // namespace

std::string stored_zip(const std::vector<std::pair<std::string, std::string>>& records) {
  std::string out, directory;
  for (const auto& [name, data] : records) {
    const auto offset = static_cast<std::uint32_t>(out.size());
    out += "PK\x03\x04";
    put_entry(out, name, data);
    out += name + data;
    directory += "PK\x01\x02";
    put(directory, 20, 2);  // Version made by.
    put_entry(directory, name, data);
    put(directory, 0, 2);  // No comment.
    put(directory, 0, 2);  // Disk.
    put(directory, 0, 2);  // Internal attributes.
    put(directory, 0, 4);  // External attributes.
    put(directory, offset, 4);
    directory += name;
  }
  const auto start = static_cast<std::uint32_t>(out.size());
  out += directory + "PK\x05\x06";
  put(out, 0, 4);  // Disks.
  put(out, static_cast<std::uint32_t>(records.size()), 2);
  put(out, static_cast<std::uint32_t>(records.size()), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
}

TemporaryFile::TemporaryFile(const std::string& name, const std::string& bytes)
    : path_(std::filesystem::temp_directory_path() /
            fmt::format("symprof_{}_{}", ::getpid(), name)) {
  std::ofstream(path_, std::ios::binary) << bytes;
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string tensor_meta(int dtype, const std::string& sizes, const std::string& strides,
                        const std::string& device) {
  return fmt::format(
      R"({{"dtype": {}, "sizes": [{}], "strides": [{}], "storage_offset": {{"as_int": 0}},
          "layout": 7, "device": {{"type": "{}", "index": null}},
          "requires_grad": false}})",
      dtype, sizes, strides, device);
}

std::string Program::json() const {
  return fmt::format(
      R"({{"graph_module": {{"graph": {{"inputs": [{}], "outputs": [{}], "nodes": [{}],
          "tensor_values": {{{}}}, "sym_int_values": {{{}}}, "sym_bool_values": {{}}}},
          "signature": {{"input_specs": [{}], "output_specs": [{}]}}}},
          "range_constraints": {{{}}}, "schema_version": {}, "torch_version": "2.13.0"}})",
      inputs, outputs, nodes, tensor_values, sym_int_values, input_specs, output_specs,
      range_constraints, schema);
}

std::string Program::archive() const {
  std::vector<std::pair<std::string, std::string>> records = {
      {"m/data/weights/model_weights_config.json", fmt::format(R"({{"config": {{{}}}}})", weights)},
      {"m/data/constants/model_constants_config.json",
       fmt::format(R"({{"config": {{{}}}}})", constants)},
      {"m/models/model.json", json()},
      {"m/archive_format", "pt2"}};
  for (const auto& [name, data] : payloads) records.emplace_back("m/" + name, data);
  return stored_zip(records);
}

Graph load(const Program& program) {
  const TemporaryFile file("program.pt2", program.archive());
  Graph graph = trace::load_exported(file.path());
  trace::verify(graph);
  return graph;
}

Program relu_program() {
  const std::string sizes = R"({"as_int": 2}, {"as_int": 3})";
  const std::string meta = tensor_meta(7, sizes, R"({"as_int": 3}, {"as_int": 1})");
  Program program;
  program.inputs = R"({"as_tensor": {"name": "x"}})";
  program.outputs = R"({"as_tensor": {"name": "y"}})";
  program.nodes = R"({"target": "torch.ops.aten.relu.default", "name": "relu",
      "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}],
      "outputs": [{"as_tensor": {"name": "y"}}],
      "metadata": {"stack_trace": "a", "nn_module_stack": "L__self__,,app.Net;L__self___act,act,torch.nn.ReLU"}})";
  program.tensor_values = fmt::format(R"("x": {}, "y": {})", meta, meta);
  program.input_specs = R"({"user_input": {"arg": {"as_tensor": {"name": "x"}}}})";
  program.output_specs = R"({"user_output": {"arg": {"as_tensor": {"name": "y"}}}})";
  return program;
}

}  // namespace symprof::test
