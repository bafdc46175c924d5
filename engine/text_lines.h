// Layers as lines of text: the inspector's, the one-line form of verbose logs, and polygraphy's.
#pragma once

#include <optional>
#include <string_view>

#include "engine/engine.h"

namespace symprof::engine {

struct LineReading {
  Layer layer;
  std::string problem;  ///< Empty if the line is complete.
};

/// `Name: …, LayerType: …, Inputs: [ { Name: … }], …`; empty for other lines. Names contain commas,
/// colons and brackets, so a name ends at the next known field.
std::optional<LineReading> read_inspector_line(std::string_view line);

/// `Layer(CaskConvolution): name, Tactic: 0x…, in (Float[1,3,224,224]) -> out
/// (Int8[1,64:32,56,56])`, and TensorRT 7's `in[Float(1,3,224,224)] -> out[…]`; a logger's words
/// may stand before it.
std::optional<LineReading> read_one_line_layer(std::string_view line);

/// `Layer 57   | name [Op: NoOp]` of `polygraphy inspect model`.
std::optional<LineReading> read_polygraphy_line(std::string_view line);

/// Adds the tensors of a line of polygraphy's that follows: ` -> {name [dtype=…, shape=(…), …]}`.
/// False where `line` is none.
bool add_polygraphy_tensors(std::string_view line, Layer& layer);

}  // namespace symprof::engine
