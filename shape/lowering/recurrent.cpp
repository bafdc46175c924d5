// RNN, GRU and LSTM. The forms that PyTorch exports become its own calls (at::lstm …); peepholes,
// clipping, other activations, lengths and ONNX's older GRU are computed step by step, as ONNX
// defines them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "shape/lowering/families.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/recurrent_cell.h"

namespace symprof::lowering {
namespace {

/// Reorders the blocks of a weight's first dimension to PyTorch's order: `order[i]` is ONNX's
/// position of block i.
at::Tensor reordered(const at::Tensor& weight, const Integers& order) {
  const Tensors blocks = at::chunk(weight, static_cast<std::int64_t>(order.size()), 0);
  Tensors result;
  for (const std::int64_t place : order)
    result.push_back(blocks.at(static_cast<std::size_t>(place)));
  return result.size() == 1 ? result.front() : at::cat(result, 0);
}

/// The parameter list of at::lstm: W_ih, W_hh and, with a bias, b_ih, b_hh per direction.
Tensors parameters(const OnnxCall& call, std::int64_t directions, const Integers& order) {
  Tensors list;
  for (std::int64_t d = 0; d < directions; ++d) {
    list.push_back(reordered(call.input(1).select(0, d), order));
    list.push_back(reordered(call.input(2).select(0, d), order));
    if (!call.has(3)) continue;
    const Tensors biases = at::chunk(call.input(3).select(0, d), 2, 0);
    for (const at::Tensor& bias : biases) list.push_back(reordered(bias, order));
  }
  return list;
}

struct Problem {
  RecurrentKind kind;
  at::Tensor x;             ///< [steps, batch, size].
  at::Tensor hidden, cell;  ///< [directions, batch, hidden size].
  std::int64_t directions = 1, hidden_size = 0;
  bool batch_first = false;
};

at::Tensor initial_state(const OnnxCall& call, std::size_t index, const Problem& problem) {
  if (!call.has(index))
    return at::zeros({problem.directions, problem.x.size(1), problem.hidden_size},
                     problem.x.options());
  const at::Tensor state = to_device_of(call.input(index), problem.x);
  return problem.batch_first ? state.transpose(0, 1) : state;
}

Problem read_problem(const OnnxCall& call, RecurrentKind kind) {
  Problem problem{.kind = kind};
  const at::Tensor& weight = call.input(2);
  if (call.input(0).dim() != 3 || weight.dim() != 3)
    call.fail(fmt::format("an input [{}] and a recurrence weight [{}]",
                          fmt::join(call.input(0).sizes(), ", "), fmt::join(weight.sizes(), ", ")),
              "Wanted: three dimensions of both.");
  problem.batch_first = call.is_set("layout");
  problem.x = problem.batch_first ? call.input(0).transpose(0, 1) : call.input(0);
  problem.directions = weight.size(0);
  problem.hidden_size = weight.size(2);
  problem.hidden = initial_state(call, 5, problem);
  if (kind == RecurrentKind::lstm) problem.cell = initial_state(call, 6, problem);
  return problem;
}

/// Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden].
Tensors arranged(const Problem& problem, Tensors results) {
  if (!problem.batch_first) return results;
  results[0] = results[0].permute({2, 0, 1, 3});
  for (std::size_t i = 1; i < results.size(); ++i) results[i] = results[i].transpose(0, 1);
  return results;
}

/// Runs nn.LSTM, nn.GRU or nn.RNN over all steps; a single reversed direction runs on a flipped
/// input.
Tensors whole(const OnnxCall& call, const Problem& problem) {
  const bool reverse = call.text("direction", "forward") == "reverse";
  const bool bidirectional = problem.directions == 2, has_bias = call.has(3);
  const at::Tensor x = reverse ? problem.x.flip({0}) : problem.x;
  at::Tensor y, hidden, cell;
  if (problem.kind == RecurrentKind::lstm) {  // ONNX: i, o, f, c. PyTorch: i, f, c, o.
    std::tie(y, hidden, cell) =
        at::lstm(x, {problem.hidden, problem.cell},
                 parameters(call, problem.directions, {0, 2, 3, 1}), has_bias, /*num_layers=*/1,
                 /*dropout=*/0.0, /*train=*/false, bidirectional, /*batch_first=*/false);
  } else if (problem.kind == RecurrentKind::gru) {  // ONNX: z, r, h. PyTorch: r, z, n.
    std::tie(y, hidden) =
        at::gru(x, problem.hidden, parameters(call, problem.directions, {1, 0, 2}), has_bias, 1,
                0.0, false, bidirectional, false);
  } else {
    std::tie(y, hidden) = at::rnn_tanh(x, problem.hidden, parameters(call, problem.directions, {0}),
                                       has_bias, 1, 0.0, false, bidirectional, false);
  }
  if (reverse) y = y.flip({0});
  y = y.reshape({y.size(0), y.size(1), problem.directions, problem.hidden_size}).transpose(1, 2);
  Tensors results{y, hidden};
  if (cell.defined()) results.push_back(cell);
  return results;
}

/// Runs one direction at a time, step by step.
Tensors in_steps(const OnnxCall& call, const Problem& problem) {
  Tensors outputs, last_hidden, last_cell;
  for (std::int64_t d = 0; d < problem.directions; ++d) {
    const bool reverse = d == 1 || call.text("direction", "forward") == "reverse";
    RecurrentCell cell(call, problem.kind, d);
    at::Tensor hidden = problem.hidden.select(0, d);
    at::Tensor state = problem.cell.defined() ? problem.cell.select(0, d) : at::Tensor();
    Tensors steps(static_cast<std::size_t>(problem.x.size(0)));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t step = reverse ? steps.size() - 1 - i : i;
      const auto at = static_cast<std::int64_t>(step);
      const auto [next, next_state] = cell.step(problem.x.select(0, at), hidden, state);
      steps[step] = cell.keep_within_length(at, next, at::zeros_like(next));
      hidden = cell.keep_within_length(at, next, hidden);
      if (state.defined()) state = cell.keep_within_length(at, next_state, state);
    }
    outputs.push_back(at::stack(steps, 0));
    last_hidden.push_back(hidden);
    if (state.defined()) last_cell.push_back(state);
  }
  Tensors results{at::stack(outputs, 1), at::stack(last_hidden, 0)};
  if (!last_cell.empty()) results.push_back(at::stack(last_cell, 0));
  return results;
}

template <RecurrentKind kind>
Tensors recurrent(OnnxCall& call) {
  const Problem problem = read_problem(call, kind);
  return arranged(problem,
                  is_pytorchs(call, kind) ? whole(call, problem) : in_steps(call, problem));
}

constexpr Lowering recurrent_rows[] = {
    {"onnx::GRU", recurrent<RecurrentKind::gru>},
    {"onnx::LSTM", recurrent<RecurrentKind::lstm>},
    {"onnx::RNN", recurrent<RecurrentKind::rnn>},
};

}  // namespace

Lowerings recurrent_lowerings() { return recurrent_rows; }

}  // namespace symprof::lowering
