#include "plan/parallel/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.h"

namespace symprof::plan {
namespace {

std::vector<std::string> split_at(const std::string& text, std::string_view separators) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

[[noreturn]] void refuse_word(const std::string& word) {
  throw Error(SettingRef{"layout"}, "'" + word + "' is no part of a layout",
              "Known: ddp=8, fsdp=8, hsdp=2x4, ep=8, tp=4, tp=4:sp, tp=4:nodes, pp=2:1f1b:mb=8, "
              "mb=4, ckpt=12; interleaved and zero-bubble in the place of 1f1b.");
}

int count_in(std::string_view text, const std::string& word) {
  int number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 1) refuse_word(word);
  return number;
}

/// "tp=4:sp": the key, its number, and the suffixes.
struct LayoutWord {
  std::string key, number;
  std::vector<std::string> more;
};

LayoutWord word_of(const std::string& word) {
  const std::vector<std::string> parts = split_at(word, ":");
  const std::size_t equals = parts.empty() ? std::string::npos : parts[0].find('=');
  if (equals == std::string::npos) refuse_word(word);
  return {
      parts[0].substr(0, equals), parts[0].substr(equals + 1), {parts.begin() + 1, parts.end()}};
}

void read_data(LayoutFilter& filter, const LayoutWord& given, const std::string& word) {
  filter.mode = given.key == "ddp"    ? DataMode::copies
                : given.key == "fsdp" ? DataMode::shards
                                      : DataMode::hybrid;
  const std::size_t cross = given.number.find('x');
  if (*filter.mode != DataMode::hybrid) {
    filter.data = count_in(given.number, word);
  } else if (cross == std::string::npos) {
    refuse_word(word);
  } else {
    filter.shard = count_in(given.number.substr(cross + 1), word);
    filter.data = *filter.shard * count_in(given.number.substr(0, cross), word);
  }
}

bool is_planned(PipelineKind kind) {
  return kind == PipelineKind::one_f_one_b || kind == PipelineKind::interleaved ||
         kind == PipelineKind::interleaved_zero_bubble;
}

void read_pipeline(LayoutFilter& filter, const LayoutWord& given, const std::string& word) {
  filter.pipeline = count_in(given.number, word);
  for (const std::string& more : given.more) {
    if (more.starts_with("mb=")) {
      filter.microbatches = count_in(std::string_view(more).substr(3), word);
    } else {
      filter.schedule = pipeline_called(more);
      if (!filter.schedule || !is_planned(*filter.schedule)) refuse_word(word);
    }
  }
}

std::string data_text(const ParallelLayout& layout) {
  switch (layout.mode) {
    case DataMode::copies:
      return fmt::format("ddp={}", layout.data);
    case DataMode::shards:
      return fmt::format("fsdp={}", layout.data);
    case DataMode::hybrid:
      return fmt::format("hsdp={}x{}", layout.data / layout.shard, layout.shard);
  }
  return "";
}

}  // namespace

bool ParallelLayout::can_checkpoint() const { return !row_of(schedule).splits_backward; }

bool LayoutFilter::allows(const ParallelLayout& layout) const {
  const auto is = [](const auto& wanted, const auto& has) { return !wanted || *wanted == has; };
  return is(mode, layout.mode) && is(data, layout.data) && is(shard, layout.shard) &&
         is(tensor, layout.tensor) && is(pipeline, layout.pipeline) &&
         is(microbatches, layout.microbatches) && is(expert, layout.expert) &&
         is(sequence, layout.sequence) && is(by_node, layout.by_node) &&
         is(schedule, layout.schedule) &&
         (checkpointed.value_or(0) == 0 || layout.can_checkpoint());
}

LayoutFilter parse_layout(const std::string& text) {
  LayoutFilter filter;
  for (const std::string& word : split_at(text, " ,")) {
    const LayoutWord given = word_of(word);
    if (given.key == "ddp" || given.key == "fsdp" || given.key == "hsdp") {
      read_data(filter, given, word);
    } else if (given.key == "tp") {
      filter.tensor = count_in(given.number, word);
      filter.sequence = std::ranges::find(given.more, "sp") != given.more.end();
      filter.by_node = std::ranges::find(given.more, "nodes") != given.more.end();
    } else if (given.key == "pp") {
      read_pipeline(filter, given, word);
    } else if (given.key == "ckpt") {
      filter.checkpointed = count_in(given.number, word);
    } else if (given.key == "ep") {
      filter.expert = count_in(given.number, word);
    } else if (given.key == "mb") {
      filter.microbatches = count_in(given.number, word);
    } else {
      refuse_word(word);
    }
  }
  return filter;
}

std::string text_of(const ParallelLayout& layout) {
  std::string text = layout.data > 1 || layout.devices() == 1 ? data_text(layout) : "";
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (layout.expert > 1) add(fmt::format("ep={}", layout.expert));
  if (layout.tensor > 1)
    add(fmt::format("tp={}{}{}", layout.tensor, layout.sequence ? ":sp" : "",
                    layout.by_node ? ":nodes" : ""));
  if (layout.pipeline > 1)
    add(fmt::format("pp={}:{}:mb={}", layout.pipeline, row_of(layout.schedule).short_name,
                    layout.microbatches));
  else if (layout.microbatches > 1)
    add(fmt::format("mb={}", layout.microbatches));
  if (layout.checkpointed > 0) add(fmt::format("ckpt={}", layout.checkpointed));
  return text;
}

}  // namespace symprof::plan
