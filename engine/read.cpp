#include "engine/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "engine/build_log.h"
#include "engine/content.h"
#include "engine/layer_fields.h"
#include "engine/log_lines.h"
#include "engine/text_lines.h"
#include "engine/times.h"

namespace symprof::engine {
namespace {

void add_bindings(const Field& root, Engine& engine) {
  for (const std::string_view name : {"Bindings", "bindings"})
    if (const Field* list = root.find(name))
      for (const Field& item : list->items) engine.bindings.push_back(item.text);
}

/// The list of layers in `root`, under any tool's key; null without one.
const Field* layer_list(const Field& root) {
  if (root.kind == Field::Kind::list) return &root;
  for (const std::string_view name : {"Layers", "layers", "LayerInfo", "layerInfo"})
    if (const Field* list = root.find(name); list && list->kind == Field::Kind::list) return list;
  return nullptr;
}

void add_layers(const Field& root, Engine& engine) {
  if (const Field* list = layer_list(root)) {
    engine.layers.reserve(engine.layers.size() + list->items.size());
    for (const Field& item : list->items)
      if (Layer layer = layer_of(item); !layer.name.empty())
        engine.layers.push_back(std::move(layer));
  } else if (root.find("Name") && root.find("LayerType")) {
    engine.layers.push_back(layer_of(root));
  }
  add_bindings(root, engine);
}

void use_profile(Times times, Engine& engine) {
  engine.layers.reserve(times.layers.size());
  for (const LayerTime& time : times.layers)
    engine.layers.push_back(layer_of({.kind = Field::Kind::text, .text = time.name}));
  engine.times = std::move(times);
}

void read_json(std::string_view content, Engine& engine) {
  // Objects may be concatenated, as by scripts that print layer by layer.
  for (std::size_t at = 0; (at = content.find_first_of("{[", at)) != std::string_view::npos;) {
    const FieldReading reading = read_fields(content, at);
    engine.warnings.insert(engine.warnings.end(), reading.problems.begin(), reading.problems.end());
    if (engine.layers.empty() && is_profile(reading.field)) {
      engine.form = "profile";
      return use_profile(times_of(reading.field), engine);
    }
    add_layers(reading.field, engine);
    if (!reading.problems.empty()) break;
    at = reading.end;
  }
  const auto is_bare = [](const Layer& layer) {
    return layer.type.empty() && layer.inputs.empty();
  };
  engine.form = std::ranges::all_of(engine.layers, is_bare) ? "inspector JSON, names alone"
                                                            : "inspector JSON";
}

/// Reads a log line by line. A log may have detailed layers, one-line layers and JSON: the most
/// detailed form is used.
class LogReader {
 public:
  explicit LogReader(Engine& engine) : engine_(engine) {}

  void read(std::string_view content) {
    for_each_line(content, [&](std::string_view line, std::size_t number) {
      const auto offset = static_cast<std::size_t>(line.data() - content.data());
      if (offset >= json_end_) read_line(content, line, number);
    });
    if (auto times = times_in(content)) engine_.times = std::move(times);
    choose();
  }

 private:
  void read_line(std::string_view content, std::string_view whole, std::size_t number) {
    const std::string_view line = without_log_prefix(whole);
    if (auto detailed = read_inspector_line(line))
      return add(*std::move(detailed), number, detailed_);
    if (auto brief = read_one_line_layer(whole)) return add(*std::move(brief), number, brief_);
    if (auto listed = read_polygraphy_line(whole)) {
      in_polygraphy_ = true;
      return add(*std::move(listed), number, detailed_);
    }
    if (in_polygraphy_ && !detailed_.empty() && add_polygraphy_tensors(whole, detailed_.back()))
      return;
    if (starts_json(whole)) return read_object(content, whole, number);
    if (in_bindings_ && !trimmed(line).empty() && line == whole) {
      engine_.bindings.emplace_back(trimmed(line));
      return;
    }
    in_bindings_ = trimmed(line) == "Bindings:";
    if (in_bindings_) engine_.bindings.clear();
    if (auto version = version_in(whole)) engine_.version = *std::move(version);
    add_fusions(line, engine_.fusions);
  }

  static bool starts_json(std::string_view line) {
    const std::string_view text = trimmed(line);
    return text == "{" || text.starts_with("{\"") || text.starts_with("{ \"");
  }

  void read_object(std::string_view content, std::string_view line, std::size_t number) {
    const FieldReading reading =
        read_fields(content, static_cast<std::size_t>(line.data() - content.data()), number);
    const std::size_t before = engine_.layers.size();
    add_layers(reading.field, engine_);
    // Logs contain JSON of other tools too: ignored.
    if (engine_.layers.size() == before) return;
    json_end_ = reading.end;
    engine_.warnings.insert(engine_.warnings.end(), reading.problems.begin(),
                            reading.problems.end());
  }

  void add(LineReading reading, std::size_t number, std::vector<Layer>& layers) {
    in_bindings_ = false;
    if (!reading.problem.empty())
      engine_.warnings.push_back(fmt::format("line {}: {}", number, reading.problem));
    if (!reading.layer.name.empty()) layers.push_back(std::move(reading.layer));
  }

  void choose() {
    engine_.form = "inspector text";
    if (!engine_.layers.empty()) {
      engine_.form = "inspector JSON";
      // In a log with a JSON list, lines repeat the same layers.
      if (const std::size_t others = std::max(detailed_.size(), brief_.size());
          others && others != engine_.layers.size())
        engine_.warnings.push_back(
            fmt::format("the file has {} layers in JSON and {} as lines: those in JSON are shown",
                        engine_.layers.size(), others));
    } else if (!detailed_.empty()) {
      engine_.layers = std::move(detailed_);
      engine_.regions = std::move(brief_);
    } else if (!brief_.empty()) {
      engine_.form = "build log";
      engine_.layers = std::move(brief_);
    } else if (engine_.times) {
      engine_.form = "profile";
      Times times = *std::move(engine_.times);
      use_profile(std::move(times), engine_);
    }
  }

  Engine& engine_;
  std::vector<Layer> detailed_, brief_;
  std::size_t json_end_ = 0;
  bool in_bindings_ = false, in_polygraphy_ = false;
};

}  // namespace

Engine read_engine(std::string_view content, const std::string& path) {
  Engine engine;
  engine.path = path;
  if (looks_like_json(content))
    read_json(content, engine);
  else
    LogReader(engine).read(content);
  if (engine.layers.empty())
    throw Error(path,
                engine.warnings.empty() ? std::string("has no layers of an engine")
                                        : "has no whole layer: " + engine.warnings.front(),
                wanted_files);
  return engine;
}

Engine read_engine(const std::string& path) { return read_engine(content_of_file(path), path); }

}  // namespace symprof::engine
