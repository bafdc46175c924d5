// Scratch memory of calls in PyTorch's CUDA build (recorded by truth/scratch/record.py), compared
// with the rules.
#include "profile/operators/operators.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/rounding.h"
#include "tests/support/recording_builder.h"
#include "tests/support/source_folder.h"

namespace symprof::test {
namespace {

using nlohmann::json;
using profile::Scratch;

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> result;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + comma, number);
    result.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return result;
}

std::string_view between(std::string_view text, char open, char close) {
  const auto first = text.find(open);
  if (first == std::string_view::npos) return {};
  return text.substr(first + 1, text.find(close, first) - first - 1);
}

/// "bfloat16[2,8](1,2)+3": strides unless row-major, the offset unless 0.
TensorSpec parse_tensor(std::string_view text) {
  const auto dtype = parse_dtype(text.substr(0, text.find('[')));
  REQUIRE_MESSAGE(dtype.has_value(), std::string(text));
  TensorSpec spec = tensor(numbers(between(text, '[', ']')), *dtype);
  if (text.find('(') != std::string_view::npos) spec.strides = numbers(between(text, '(', ')'));
  if (const auto plus = text.find('+'); plus != std::string_view::npos)
    spec.storage_offset = numbers(text.substr(plus + 1)).front();
  return spec;
}

/// Arguments as in shape/step/recorder.cpp: a None tensor keeps its place in a list.
void add(RecordingBuilder& builder, CallRecord& call, int position, const json& value) {
  const auto at = static_cast<std::uint8_t>(position);
  if (value.is_number()) call.integers.push_back({at, value.get<std::int64_t>()});
  if (value.is_string()) {
    call.inputs.push_back(builder.fresh(parse_tensor(value.get<std::string>())));
    call.input_positions.push_back(at);
  }
  if (!value.is_array()) return;
  for (const json& element : value) {
    add(builder, call, position, element);
    if (!element.is_null()) continue;
    call.inputs.emplace_back();
    call.input_positions.push_back(at);
  }
}

/// Memory held during a call: outputs and other blocks, rounded by the allocator.
struct Held {
  std::vector<std::int64_t> blocks;  ///< As requested.
  std::int64_t late_bytes = 0;       ///< Outputs allocated after other blocks were freed.
  std::int64_t peak_bytes = 0;

  void hold(std::int64_t bytes) {
    now_ += symprof::round_up(bytes, 512);
    peak_bytes = std::max(peak_bytes, now_);
  }
  void take(std::int64_t bytes) {
    blocks.push_back(bytes);
    hold(bytes);
  }
  void give_back(std::size_t block) { now_ -= symprof::round_up(blocks[block], 512); }

 private:
  std::int64_t now_ = 0;
};

/// `=bytes`: an output, `+bytes`: another block, `-n`: block n is freed.
Held parse_memory(const std::string& text, std::vector<std::int64_t>& outputs) {
  Held held;
  bool has_given_back = false, has_output = false;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::int64_t number = std::stoll(word.substr(1));
    if (word[0] == '-') held.give_back(static_cast<std::size_t>(number));
    has_given_back |= word[0] == '-';
    if (word[0] == '+') held.take(number);
    if (word[0] != '=') continue;
    held.hold(number);
    if (has_output && has_given_back) held.late_bytes += symprof::round_up(number, 512);
    has_output = true;
    outputs.push_back(number);
  }
  return held;
}

Held replay(const Scratch& scratch, const std::vector<std::int64_t>& outputs) {
  Held held;
  const auto give_back_early = [&](std::size_t before, bool after_outputs) {
    for (const Scratch::EarlyReturn& early : scratch.early)
      if (early.before == before && early.after_outputs == after_outputs)
        held.give_back(early.block);
  };
  for (std::size_t i = 0; i <= scratch.blocks.size(); ++i) {
    give_back_early(i, false);
    if (i == scratch.before_outputs)
      for (const std::int64_t bytes : outputs) held.hold(bytes);
    give_back_early(i, true);
    if (i < scratch.blocks.size()) held.take(scratch.blocks[i]);
  }
  std::erase(held.blocks, 0);
  return held;
}

/// The device as truth/h200/fake_gpu.cpp describes it.
DeviceSpec h200() {
  return {.multiprocessors = 132, .shared_memory_per_block_optin_bytes = 232448};
}

struct Row {
  std::string op, text;
  Held real;
  std::optional<Held> ruled;  ///< Empty: no rule.
  bool is_incomplete = false;
};

Row read_row(const json& row) {
  RecordingBuilder builder;
  std::vector<TensorSpec> outputs;
  for (const json& value : row["outputs"])
    outputs.push_back(parse_tensor(value.get<std::string>()));
  const std::string op = row["op"];
  CallRecord& call = builder.recording().calls[builder.call(op, {}, outputs, builder.node("node"))];
  for (int position = 0; const json& value : row["arguments"])
    add(builder, call, position++, value);
  Row result{.op = op, .text = row.dump()};
  std::vector<std::int64_t> made;
  result.real = parse_memory(row["memory"], made);
  const auto rule = profile::find_operator(op).scratch;
  if (rule == nullptr) return result;
  const Scratch scratch = rule(profile::Call(builder.recording(), call), h200());
  result.is_incomplete = scratch.is_incomplete;
  result.ruled = replay(scratch, made);
  return result;
}

std::vector<Row> rows() {
  const char* given = std::getenv("SYMPROF_SCRATCH");
  std::ifstream file(given ? given : test::source_folder() + "/truth/scratch/calls.json");
  std::vector<Row> result;
  for (const json& row : json::parse(file))
    if (row.contains("op")) result.push_back(read_row(row));
  return result;
}

}  // namespace

TEST_SUITE("scratch") {
  TEST_CASE("scratch blocks of every call equal PyTorch's") {
    int exact = 0;
    for (const Row& row : rows()) {
      INFO(row.text);
      if (!row.ruled) {
        CHECK_MESSAGE(row.real.blocks.empty(), "it takes blocks and has no rule");
        continue;
      }
      if (row.is_incomplete) continue;
      exact += row.real.blocks.empty() ? 0 : 1;
      CHECK_MESSAGE(row.ruled->blocks == row.real.blocks, fmt::format("{}", row.ruled->blocks));
      // A rule allocates all outputs at once, PyTorch may free blocks in between.
      CHECK(row.ruled->peak_bytes >= row.real.peak_bytes);
      CHECK(row.ruled->peak_bytes <= row.real.peak_bytes + row.real.late_bytes);
    }
    CHECK(exact > 4000);
  }

  TEST_CASE("a reduction is split over as many blocks as run concurrently") {
    constexpr std::int64_t elements = 1 << 24, threads = 512, most_values = 256, f32 = 4;
    RecordingBuilder builder;
    const CallId id =
        builder.call("aten::sum", {t({elements})}, {tensor({})}, builder.node("node"));
    const profile::Call call(builder.recording(), builder.recording().calls[id]);
    const auto blocks = [&](const DeviceSpec& device) {
      return profile::find_operator("aten::sum").scratch(call, device).blocks.front() / f32;
    };
    CHECK(blocks(h200()) == 132 * 2048 / threads);
    const DeviceSpec l40s{.compute_major = 8, .compute_minor = 9, .multiprocessors = 142};
    CHECK(blocks(l40s) == 142 * 1536 / threads);
    // Too few blocks for at most 256 elements per thread.
    const DeviceSpec t4{.compute_major = 7, .compute_minor = 5, .multiprocessors = 40};
    CHECK(blocks(t4) == elements / threads / most_values);
  }
}

}  // namespace symprof::test
