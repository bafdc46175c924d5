// Sentences about memory, shared by several reports.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profile/memory/step_memory.h"
#include "report/write/layout.h"

namespace symprof::report {

/// "label   text", the label in bold and padded, so that texts are aligned; settings in the text
/// are formatted by `layout`.
void write_line(fmt::memory_buffer& out, std::string_view label, std::string_view text,
                const Layout& layout);

/// "1.99 GiB allocated, 2.17 GiB reserved (8.3 % fragmentation), in backward at linear_47 of
/// encoder.mlp"
std::string peak_text(const StepMemory& memory, const Recording& recording);

/// Why a peak is a lower bound.
std::string_view because(const PeakUncertainty& uncertainty);

/// Why the model's own code may have another peak, and in training save other bytes
/// (profile/memory/other_calls.h); empty without a reason.
std::string because(const OtherCalls& calls);

/// The sentence about such a peak.
std::string estimate_text(const OtherCalls& calls);

/// The sentence about values that may live longer: the peak is a lower bound, or may be higher,
/// too.
std::string uncertainty_text(const PeakUncertainty& uncertainty, bool may_be_lower = false);

/// A line below a peak: its label and its text.
struct PeakNote {
  std::string_view label;
  std::string text;
};

/// The same of a step's peak, as a line.
PeakNote uncertainty_note(const StepMemory& memory);

/// "parameters 1.2 GiB, activations 3.4 GiB": bytes by category, the largest first.
std::string held_text(const MemoryBreakdown& held);

/// The value of nvidia-smi: reserved bytes and `context_bytes`, empty if not measured.
std::string nvidia_smi_text(const StepMemory& memory, std::optional<std::int64_t> context_bytes);

/// The line about calls whose workspaces are excluded from totals.
std::string incomplete_text(const StepMemory& memory);

/// The text for the moment before the first call.
constexpr const char* no_call_text = "the model and its first batch";

/// "backward at linear_47 of encoder.mlp".
std::string call_text(Phase phase, const std::string& node, const std::string& module);

/// "backward at linear_47 of encoder.mlp"; for none, "the model and its first batch".
std::string call_text(CallId call, const Recording& recording);

}  // namespace symprof::report
