// Costs for operators that are the caller's own.
//
// Public header.
#pragma once

#include "profile/operators/operators.h"
#include "profile/profile.h"

namespace symprof::profile {

/// As evaluate, with rules that come before those of the program: for an operator that it does not
/// know, or counts otherwise. `own` is a table of the caller's families:
/// `const Family family[] = {{"acme", acme_rules}}; const OperatorTable own(family);`
Profile evaluate(Recording recording, const DeviceSpec& device, const OperatorTable& own,
                 const LoopOptions& loop = {});

}  // namespace symprof::profile
