#include "shape/lowering/recurrent_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

std::vector<std::string> default_activations(RecurrentKind kind) {
  if (kind == RecurrentKind::lstm) return {"Sigmoid", "Tanh", "Tanh"};
  if (kind == RecurrentKind::gru) return {"Sigmoid", "Tanh"};
  return {"Tanh"};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

bool is_pytorchs(const OnnxCall& call, RecurrentKind kind) {
  const bool plain = !call.has(4) && call.real("clip", 0.0) == 0.0 && !call.is_set("input_forget");
  if (kind == RecurrentKind::lstm && call.has(7)) return false;
  if (kind == RecurrentKind::gru && !call.is_set("linear_before_reset")) return false;
  const auto given = call.texts("activations");
  const auto usual = default_activations(kind);
  for (std::size_t i = 0; given && i < given->size(); ++i)
    if (lower((*given)[i]) != lower(usual[i % usual.size()])) return false;
  return plain;
}

RecurrentCell::RecurrentCell(const OnnxCall& call, RecurrentKind kind, std::int64_t direction)
    : call_(call), kind_(kind) {
  weight_ = call.input(1).select(0, direction).t();
  recurrence_ = call.input(2).select(0, direction).t();
  if (call.has(3)) {
    const Tensors biases = at::chunk(call.input(3).select(0, direction), 2, 0);
    input_bias_ = biases.at(0), hidden_bias_ = biases.at(1);
  } else {
    input_bias_ = hidden_bias_ = at::zeros({weight_.size(1)}, weight_.options());
  }
  if (call.has(4)) lengths_ = to_device_of(call.input(4), call.input(0));
  if (kind == RecurrentKind::lstm && call.has(7)) peephole_ = call.input(7).select(0, direction);
  read_activations(direction);
}

void RecurrentCell::read_activations(std::int64_t direction) {
  const auto usual = default_activations(kind_);
  const auto given = call_.texts("activations").value_or(usual);
  const auto alphas = call_.reals("activation_alpha"), betas = call_.reals("activation_beta");
  const auto at = [](const std::optional<std::vector<double>>& list, std::size_t i, double other) {
    return list && i < list->size() ? (*list)[i] : other;
  };
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const std::size_t place =
        (static_cast<std::size_t>(direction) * usual.size() + i) % given.size();
    const std::string name = lower(given[place]);
    const double alpha = name == "leakyrelu" ? 0.01 : name == "hardsigmoid" ? 0.2 : 1.0;
    activations_.push_back(
        {name, at(alphas, place, alpha), at(betas, place, name == "hardsigmoid" ? 0.5 : 0.0)});
  }
}

at::Tensor RecurrentCell::activate(std::size_t index, const at::Tensor& x) const {
  const Activation& f = activations_.at(index);
  const double clip = call_.real("clip", 0.0);
  const at::Tensor y = clip > 0 ? at::clamp(x, -clip, clip) : x;
  if (f.name == "sigmoid") return at::sigmoid(y);
  if (f.name == "tanh") return at::tanh(y);
  if (f.name == "relu") return at::relu(y);
  if (f.name == "leakyrelu") return at::leaky_relu(y, f.alpha);
  if (f.name == "thresholdedrelu") return at::threshold(y, f.alpha, 0);
  if (f.name == "elu") return at::elu(y, f.alpha);
  if (f.name == "softsign") return at::div(y, at::add(at::abs(y), 1));
  if (f.name == "softplus") return at::softplus(y);
  if (f.name == "affine") return at::add(at::mul(y, f.alpha), f.beta);
  if (f.name == "scaledtanh") return at::mul(at::tanh(at::mul(y, f.beta)), f.alpha);
  if (f.name == "hardsigmoid") return at::clamp(at::add(at::mul(y, f.alpha), f.beta), 0, 1);
  call_.fail("the activation '" + f.name + "'",
             "Wanted: Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
             "HardSigmoid, Elu, Softsign or Softplus.");
}

/// Gates i, o, f, c; peepholes i, o, f.
std::pair<at::Tensor, at::Tensor> RecurrentCell::lstm(const at::Tensor& x, const at::Tensor& hidden,
                                                      const at::Tensor& state) const {
  const Tensors gates = at::chunk(
      at::add(at::addmm(input_bias_, x, weight_), at::addmm(hidden_bias_, hidden, recurrence_)), 4,
      1);
  const auto peep = [&](std::size_t gate, const at::Tensor& from) {
    if (!peephole_.defined()) return gates[gate];
    return at::add(gates[gate], at::mul(at::chunk(peephole_, 3, 0)[gate], from));
  };
  const at::Tensor input = activate(0, peep(0, state));
  const at::Tensor forget = call_.is_set("input_forget") ? at::sub(at::ones_like(input), input)
                                                         : activate(0, peep(2, state));
  const at::Tensor next = at::add(at::mul(forget, state), at::mul(input, activate(1, gates[3])));
  return {at::mul(activate(0, peep(1, next)), activate(2, next)), next};
}

/// Gates z, r, h.
at::Tensor RecurrentCell::gru(const at::Tensor& x, const at::Tensor& hidden) const {
  const Tensors from_x = at::chunk(at::addmm(input_bias_, x, weight_), 3, 1);
  const Tensors recurrences = at::chunk(recurrence_, 3, 1), biases = at::chunk(hidden_bias_, 3, 0);
  const auto from_hidden = [&](std::size_t gate, const at::Tensor& h) {
    return at::addmm(biases[gate], h, recurrences[gate]);
  };
  const at::Tensor update = activate(0, at::add(from_x[0], from_hidden(0, hidden)));
  const at::Tensor reset = activate(0, at::add(from_x[1], from_hidden(1, hidden)));
  const at::Tensor recurrent = call_.is_set("linear_before_reset")
                                   ? at::mul(reset, from_hidden(2, hidden))
                                   : from_hidden(2, at::mul(reset, hidden));
  const at::Tensor proposed = activate(1, at::add(from_x[2], recurrent));
  return at::add(at::mul(at::sub(at::ones_like(update), update), proposed),
                 at::mul(update, hidden));
}

std::pair<at::Tensor, at::Tensor> RecurrentCell::step(const at::Tensor& x, const at::Tensor& hidden,
                                                      const at::Tensor& state) const {
  if (kind_ == RecurrentKind::lstm) return lstm(x, hidden, state);
  if (kind_ == RecurrentKind::gru) return {gru(x, hidden), {}};
  return {activate(0, at::add(at::addmm(input_bias_, x, weight_),
                              at::addmm(hidden_bias_, hidden, recurrence_))),
          {}};
}

at::Tensor RecurrentCell::keep_within_length(std::int64_t step, const at::Tensor& inside,
                                             const at::Tensor& outside) const {
  if (!lengths_.defined()) return inside;
  return at::where(at::gt(lengths_, step).unsqueeze(-1), inside, outside);
}

}  // namespace symprof::lowering
