// Costs for the caller's own operators.
//
// Public header.
#pragma once

#include "profile/operators/operators.h"
#include "profile/profile.h"

namespace symprof::profile {

/// Like evaluate, with rules that take precedence over the built-in ones: for operators that are
/// unknown or counted differently. `own` is a table of the caller's families: `const Family
/// family[] = {{"acme", acme_rules}}; const OperatorTable own(family);`
Profile evaluate(Recording recording, const DeviceSpec& device, const OperatorTable& own,
                 const LoopOptions& loop = {});

}  // namespace symprof::profile
