// A training step of one parameter, for what its loop holds.
#pragma once

#include "profile/memory/allocator/allocator_settings.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {

using profile::operator""_MiB;

inline constexpr std::int64_t weight_bytes = 4_MiB, input_bytes = 1_MiB, output_bytes = 2_MiB;

/// Forward, backward and update of one parameter, with no operators that take scratch.
struct TrainingStep : RecordingBuilder {
  NodeId layer = node("layer"), update = node("optimizer", NodeKind::optimizer);
  StorageId weight = storage({.bytes = weight_bytes, .kind = StorageKind::parameter});
  StorageId state = storage({.bytes = weight_bytes, .kind = StorageKind::optimizer_state});
  StorageId input = storage({.bytes = input_bytes, .kind = StorageKind::input});
  StorageId output = storage({.bytes = output_bytes, .saved = true});
  StorageId gradient = storage({.bytes = weight_bytes, .kind = StorageKind::gradient});

  TrainingStep() {
    for (const StorageId id : {weight, state, input}) event(EventKind::allocate, id, none);
    event(EventKind::allocate, output, call("aten::relu", {}, {}, layer));
    event(EventKind::allocate, gradient, call("aten::relu", {}, {}, layer, Phase::backward));
    call("aten::_foreach_add_", {}, {}, update, Phase::optimizer);
  }
};

}  // namespace symprof::test
