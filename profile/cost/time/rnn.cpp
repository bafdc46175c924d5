// Recurrent layers: cuDNN computes the input products of all steps at once, and the recurrent
// products step by step. Where recurrent steps were not measured, times of products approximate
// them, marked as rough.
#include <algorithm>

#include "profile/cost/recurrent_weights.h"
#include "profile/cost/time/families.h"
#include "profile/cost/time/launches.h"

namespace symprof::profile {
namespace {

/// (input, weight[], weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers,
/// batch_first, dropout, train, bidirectional, batch_sizes, …); the backward operator has output
/// and three gradients before `mode`.
struct RnnArguments {
  int mode = 6, hidden = 7, projection = 8, batch_first = 10, batch_sizes = 14;
};

struct Sequence {
  std::int64_t steps = 0, batch = 1;  ///< For a packed batch: the mean.
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

struct Matrix {
  std::int64_t rows = 0, columns = 0;
};

/// The layers' matrices. A weight that autocast has cast is a view of cuDNN's buffer with one
/// column, so that rows follow from the layer: gates of all hidden units, or a projection.
std::vector<Matrix> matrices_of(const Call& call, const RnnArguments& at) {
  // By cudnnRNNMode_t: relu, tanh, LSTM, GRU.
  constexpr std::int64_t gates[] = {1, 1, 4, 3};
  const auto mode = static_cast<std::size_t>(
      std::clamp<std::int64_t>(call.integer(at.mode, 0, 0), 0, std::int64_t{std::size(gates)} - 1));
  const std::int64_t hidden = call.integer(at.hidden, 0, 0);
  const std::int64_t projection = call.integer(at.projection, 0, 0);
  std::vector<Matrix> matrices;
  for (const TensorSpec* weight : recurrent_matrices(call)) {
    const bool projects = projection > 0 && matrices.size() % 3 == 2;
    const std::int64_t rows =
        std::max<std::int64_t>(projects ? projection : gates[mode] * hidden, 1);
    matrices.push_back({rows, weight->sizes[0] * weight->sizes[1] / rows});
  }
  return matrices;
}

/// Properties common to the kernels of a call.
struct RnnForm {
  TimeClass of_products = TimeClass::product_16bit;
  /// Class of the steps; nullopt if approximated by sequential products.
  std::optional<TimeClass> of_steps;
  Sequence sequence;
  std::int64_t bytes = 2;
};

/// The kernels of each weight matrix. A layer has two (three with a projection), the first for its
/// input.
class RnnKernels {
 public:
  explicit RnnKernels(const RnnForm& form) : form_(form) {}

  void add_forward(const Matrix& weight, bool meets_input) {
    if (meets_input)
      add(all(), weight.rows, weight.columns, 1);
    else
      add_steps(weight, false);
  }

  void add_data_gradient(const Matrix& weight, bool meets_input) {
    if (meets_input)
      add(all(), weight.columns, weight.rows, 1);
    else
      add_steps(weight, true);
  }

  void add_weight_gradient(const Matrix& weight) { add(weight.rows, weight.columns, all(), 1); }

  std::vector<Kernel> kernels;

 private:
  std::int64_t all() const { return form_.sequence.steps * form_.sequence.batch; }

  void add(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t times) {
    const ProductWork work{1, m, n, k, form_.bytes, form_.bytes, 1};
    kernels.insert(kernels.end(), static_cast<std::size_t>(times), Kernel{form_.of_products, work});
  }

  void add_steps(const Matrix& weight, bool backward) {
    const auto [steps, batch] = form_.sequence;
    const std::int64_t wide = weight.rows, hidden = weight.columns;
    if (!form_.of_steps || hidden == 0) {
      add(batch, backward ? hidden : wide, backward ? wide : hidden, steps);
      return;
    }
    const RecurrentWork work{steps, batch, hidden, wide / hidden, form_.bytes, backward};
    kernels.push_back({*form_.of_steps, work, launches(work)});
  }

  /// As recorded (truth/h200/kernel_record_2): a product and its gates; large products are split,
  /// with one more launch that zeroes or sums the parts, in backward at smaller sizes. Small hidden
  /// sizes in fp32 have one kernel for all steps, which takes as long as one launch per step.
  int launches(const RecurrentWork& work) const {
    constexpr std::int64_t wide = 1024, few = 192, fp32 = 4, sequences = 8;
    const bool is_fp32 = work.number_bytes == fp32;
    if (is_fp32 && work.hidden <= few) return static_cast<int>(work.steps);
    const bool is_split = work.backward ? is_fp32 || work.hidden >= wide
                                        : is_fp32 && work.hidden >= wide && work.batch > sequences;
    return static_cast<int>(work.steps * (is_split ? 3 : 2));
  }

  RnnForm form_;
};

/// nullopt where steps were never measured: without tensor cores, and with a projection.
std::optional<TimeClass> class_of_steps(TimeClass of_products, std::int64_t projection) {
  if (projection > 0) return std::nullopt;
  if (of_products == TimeClass::product_16bit) return TimeClass::recurrent_16bit;
  if (of_products == TimeClass::product_tf32) return TimeClass::recurrent_tf32;
  return std::nullopt;
}

template <bool is_backward>
LaunchEstimate rnn_launches(const Call& call, const Cost&, const DeviceSpec& device) {
  const RnnArguments at = is_backward ? RnnArguments{10, 11, 12, 14, 18} : RnnArguments{};
  const std::optional<Sequence> sequence = sequence_of(call, at);
  if (!sequence) return std::nullopt;
  const DType dtype = call.input_at(0)->dtype;
  const std::optional<TimeClass> of_products =
      product_class(dtype, device, call.record().tf32_recurrent);
  if (!of_products) return std::nullopt;
  const std::int64_t projection = call.integer(at.projection, 0, 0);
  const std::optional<TimeClass> of_steps = class_of_steps(*of_products, projection);
  RnnKernels made({*of_products, of_steps, *sequence, element_bytes(dtype)});
  const std::int64_t of_a_layer = projection > 0 ? 3 : 2;
  std::int64_t matrices = 0;
  for (const Matrix& weight : matrices_of(call, at)) {
    const bool meets_input = matrices++ % of_a_layer == 0;
    if (!is_backward) {
      made.add_forward(weight, meets_input);
      continue;
    }
    made.add_data_gradient(weight, meets_input);
    if (call.integer(21, 3, 1) != 0) made.add_weight_gradient(weight);
  }
  return Launches{.kernels = std::move(made.kernels), .is_rough = !of_steps};
}

constexpr TimeRule rnn_time_rows[] = {
    {"aten::_cudnn_rnn", rnn_launches<false>},
    {"aten::_cudnn_rnn_backward", rnn_launches<true>},
};

}  // namespace

TimeRules rnn_times() { return {moves_bytes<TimeClass::elementwise>, rnn_time_rows}; }

}  // namespace symprof::profile
