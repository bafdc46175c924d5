// A profile as JSON, schema symprof.profile/1: bytes, counts and FLOPs as integers, times in
// microseconds, null for what was not computed.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include "base/setting.h"
#include "profile/profile.h"
#include "session/settings.h"

namespace symprof {
struct MeasuredMemory;  // session/memory_snapshot.h
}
namespace symprof::measure {
struct Measurement;  // measure/measurement.h
}

namespace symprof::report {

/// One line for each node, each group of totals and the timeline; ends in a newline. `measured` and
/// `memory` may be null: nothing was measured.
void write_json(fmt::memory_buffer& out, const Profile& profile, const Settings& settings,
                SettingSpeller spell = spell_plainly,
                const measure::Measurement* measured = nullptr,
                const MeasuredMemory* memory = nullptr);

}  // namespace symprof::report
