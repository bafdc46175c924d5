// Recurrent layers: cuDNN multiplies what comes in for all steps at once, and what comes from the
// step before in one product after the other. No public measurements by shape: the times of its
// products stand for it, marked as not measured.
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// (input, weight[], weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers,
/// batch_first, dropout, train, bidirectional, batch_sizes, …); the backward operator has output,
/// gradients and reserve between them, and `mode` at 11.
struct RnnArguments {
  int projection = 8, batch_first = 10, batch_sizes = 14;
};

struct Sequence {
  std::int64_t steps = 0, batch = 1;  ///< Of a packed one: the mean.
};

std::optional<Sequence> sequence_of(const Call& call, const RnnArguments& at) {
  const TensorSpec* input = call.input_at(0);
  if (!input || input->sizes.size() < 2) return std::nullopt;
  if (input->sizes.size() == 3) {
    const bool batch_first = call.integer(at.batch_first, 0, 0) != 0;
    return Sequence{input->sizes[batch_first ? 1 : 0], input->sizes[batch_first ? 0 : 1]};
  }
  Sequence packed;
  while (call.integer(at.batch_sizes, static_cast<std::size_t>(packed.steps), -1) >= 0)
    ++packed.steps;
  if (packed.steps == 0) return std::nullopt;
  packed.batch = (input->sizes[0] + packed.steps - 1) / packed.steps;
  return packed;
}

/// The kernels of each weight matrix. Of a layer's two (with a projection three) the first meets
/// what comes in.
class RnnKernels {
 public:
  RnnKernels(TimeClass time_class, const Sequence& sequence, std::int64_t bytes)
      : time_class_(time_class), sequence_(sequence), bytes_(bytes) {}

  void add_forward(const TensorSpec& weight, bool meets_input) {
    add(weight.sizes[0], weight.sizes[1], meets_input);
  }

  void add_data_gradient(const TensorSpec& weight, bool meets_input) {
    add(weight.sizes[1], weight.sizes[0], meets_input);
  }

  void add_weight_gradient(const TensorSpec& weight) {
    add(weight.sizes[0], weight.sizes[1], sequence_.steps * sequence_.batch, 1);
  }

  std::vector<Kernel> kernels;

 private:
  void add(std::int64_t wide, std::int64_t depth, bool meets_input) {
    const std::int64_t all = sequence_.steps * sequence_.batch;
    if (meets_input)
      add(all, wide, depth, 1);
    else
      add(sequence_.batch, wide, depth, sequence_.steps);
  }

  void add(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t times) {
    ProductWork work{1, m, n, k, bytes_, bytes_, 1};
    kernels.insert(kernels.end(), static_cast<std::size_t>(times), Kernel{time_class_, work});
  }

  TimeClass time_class_;
  Sequence sequence_;
  std::int64_t bytes_;
};

template <bool is_backward>
LaunchEstimate rnn_launches(const Call& call, const Cost&, const DeviceSpec& device) {
  const RnnArguments at = is_backward ? RnnArguments{13, 15, 19} : RnnArguments{};
  const std::optional<Sequence> sequence = sequence_of(call, at);
  if (!sequence) return std::nullopt;
  const DType dtype = call.input_at(0)->dtype;
  const std::optional<TimeClass> time_class = product_class(dtype, device, true);
  if (!time_class) return std::nullopt;
  RnnKernels made(*time_class, *sequence, element_bytes(dtype));
  const std::int64_t of_a_layer = call.integer(at.projection, 0, 0) > 0 ? 3 : 2;
  const CallRecord& record = call.record();
  std::int64_t matrices = 0;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const TensorSpec* weight = call.spec(record.inputs[i]);
    if (!weight || record.input_positions[i] != 1 || weight->sizes.size() != 2) continue;
    const bool meets_input = matrices++ % of_a_layer == 0;
    if (!is_backward) {
      made.add_forward(*weight, meets_input);
      continue;
    }
    made.add_data_gradient(*weight, meets_input);
    if (call.integer(21, 3, 1) != 0) made.add_weight_gradient(*weight);
  }
  return Launches{.kernels = std::move(made.kernels), .is_rough = true};
}

constexpr TimeRule rnn_time_rows[] = {
    {"aten::_cudnn_rnn", rnn_launches<false>},
    {"aten::_cudnn_rnn_backward", rnn_launches<true>},
};

}  // namespace

TimeRules rnn_times() { return {moves_bytes<TimeClass::elementwise>, rnn_time_rows}; }

}  // namespace symprof::profile
