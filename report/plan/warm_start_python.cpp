#include "report/plan/warm_start_python.h"

#include <fmt/ranges.h>

#include <iterator>
#include <string_view>

#include "record/optimizer_states.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

const OptimizerStates* states_made(const CheckpointAnswer& answer) {
  const OptimizerStates* states = states_of(answer.settings.step.optimizer);
  return states != nullptr && !states->torch_class.empty() ? states : nullptr;
}

/// A zero state equals the state before the first update.
constexpr std::string_view states_head = R"(

def make_states(optimizer):
    """What the first update would make among the gradients, where it stays: here it lies behind the model's parameters."""
    if not isinstance(optimizer, torch.optim.{0}):
        raise TypeError(f"the plan is of a loop with torch.optim.{0}, and the optimizer is {{type(optimizer).__name__}}: plan with --optimizer")
    for group in optimizer.param_groups:{1}
        for parameter in group["params"]:
            state = optimizer.state[parameter]
            if state or not parameter.requires_grad:
                continue
)";

/// A momentum buffer starts as the first gradient.
constexpr std::string_view states_dampened = R"(
        if group["dampening"]:
            continue)";

constexpr std::string_view states_step =
    R"(            counts_there = group.get("capturable") or group.get("fused")
            state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device if counts_there else "cpu")
)";

constexpr std::string_view states_tensors =
    R"(            for name, is_made in [{}]:
                if is_made:
                    state[name] = torch.zeros_like(parameter)
)";

/// Each thread has its own handle, created with its workspace (ATen/cuda/CublasHandlePool.cpp);
/// hooks run in the thread of backward.
constexpr std::string_view workspaces_text = R"(

def make_workspaces():
    """cuBLAS keeps one for the thread of the forward pass and one for that of backward."""
    torch.cuda.current_blas_handle()
    given = torch.zeros((), device="cuda", requires_grad=True).clone()
    given.register_hook(lambda gradient: torch.cuda.current_blas_handle() and None)
    given.backward()
)";

std::string tensors_text(const OptimizerStates& states) {
  std::string text;
  for (const auto& [name, option] : states.tensors())
    text += fmt::format("{}(\"{}\", {})", text.empty() ? "" : ", ", name,
                        option.empty() ? "True" : fmt::format("group[\"{}\"]", option));
  return text;
}

}  // namespace

bool takes_optimizer(const CheckpointAnswer& answer) { return states_made(answer) != nullptr; }

void write_warm_start(fmt::memory_buffer& out, const CheckpointAnswer& answer) {
  const auto at = std::back_inserter(out);
  if (const OptimizerStates* states = states_made(answer)) {
    const bool is_momentum = states->optimizer == Optimizer::sgd_momentum;
    fmt::format_to(at, states_head, states->torch_class, is_momentum ? states_dampened : "");
    if (states->counts_steps) fmt::format_to(at, "{}", states_step);
    fmt::format_to(at, states_tensors, tensors_text(*states));
  }
  if (answer.uses_cublas) fmt::format_to(at, "{}", workspaces_text);
}

std::string warm_start_calls(const CheckpointAnswer& answer) {
  std::string calls;
  if (takes_optimizer(answer)) calls += "    make_states(optimizer)\n";
  if (answer.uses_cublas) calls += "    if torch.cuda.is_available():\n        make_workspaces()\n";
  return calls;
}

}  // namespace symprof::report
