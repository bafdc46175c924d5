// The fallback kernel of all operators on fake tensors. Below autograd and above the backends it
// replaces fake tensors by plain meta tensors over the same storages, runs the operator's meta
// kernel, and wraps the results. The idea is torchdistx's (src/cc/torchdistx/fake.cc).

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <unordered_map>

#include "meta/fake/call_cache.h"
#include "meta/fake/collectives.h"
#include "meta/fake/cuda_backend.h"
#include "meta/fake/fake_mode.h"
#include "meta/fake/fake_tensor.h"
#include "meta/fake/followed_call.h"
#include "meta/fake/host_copies.h"
#include "meta/fake/host_outputs.h"
#include "meta/fake/host_writes.h"
#include "meta/fake/known_values.h"
#include "meta/fake/mixed_dtypes.h"
#include "meta/fake/observer.h"
#include "meta/fake/one_device.h"
#include "meta/fake/program_error.h"
#include "meta/fake/shape_kernel.h"
#include "meta/fake/tensors_in.h"
#include "meta/fake/upper_bound_sizes.h"

namespace symprof::meta {
namespace {

// Operator properties used by the fallback, computed once per thread.
struct OperatorInfo {
  c10::OperatorName name{"", ""};
  bool has_device_argument = false;
  bool writes_arguments = false;
  std::uint32_t of_one_dtype = 0;  // One bit per argument.
  std::uint32_t host_outputs = 0;  // One bit per output in host memory.
  bool makes_outputs_backwards = false;
  bool reads_data = false;
  bool takes_host_tensors = false;
  bool is_composite = false;   // Decomposed into other operators on every device.
  bool is_collective = false;  // A process group's operator, with the group's kernel.
  bool has_shape_kernel = false;
  bool runs_python = false;  // Its kernel is Python code of PyTorch that makes other calls.
};

const OperatorInfo& info_of(const c10::OperatorHandle& op) {
  thread_local std::unordered_map<const c10::FunctionSchema*, OperatorInfo> cache;
  const auto [entry, is_new] = cache.try_emplace(&op.schema());
  OperatorInfo& info = entry->second;
  // A new operator's schema may reuse the address of a destroyed one.
  if (!is_new && info.name == op.operator_name()) return info;
  info = {.name = op.operator_name()};
  for (const c10::Argument& argument : op.schema().arguments()) {
    if (argument.name() == "device") info.has_device_argument = true;
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite())
      info.writes_arguments = true;
  }
  info.of_one_dtype = arguments_of_one_dtype(op.schema());
  for (std::size_t i = 0; i < op.schema().returns().size(); ++i)
    if (output_is_on_host(op.schema().name(), i)) info.host_outputs |= 1U << i;
  info.makes_outputs_backwards = makes_outputs_backwards(op.schema().name());
  info.takes_host_tensors = takes_host_tensors(op.schema());
  // Decomposed at autograd's keys, which inference tensors lack. An operator with a CPU kernel of
  // its own also has one on a device (aten::silu_backward).
  const auto has = [&](c10::DispatchKey key) { return op.hasKernelForDispatchKey(key); };
  info.is_composite = has(c10::DispatchKey::CompositeImplicitAutograd) &&
                      !has(c10::DispatchKey::CPU) && !has(c10::DispatchKey::Meta);
  info.runs_python = is_python_of_torch(op);
  info.is_collective = is_collective(op);
  info.has_shape_kernel = has_shape_kernel(op);
  info.reads_data = op.schema().name() == "aten::_local_scalar_dense";
  return info;
}

// A real tensor among fake ones (a wrapped number, a constant of shapes) as a meta tensor.
at::Tensor meta_of_real(const at::Tensor& tensor) {
  if (tensor.is_meta()) return tensor;
  at::Tensor meta(
      at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type()));
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
    meta.unsafeGetTensorImpl()->set_wrapped_number(true);
  return meta;
}

// `cuda` means the current device, which is device 0.
c10::Device with_index(c10::Device device) {
  return device.is_cuda() && !device.has_index() ? c10::Device(c10::kCUDA, 0) : device;
}

class FakeCall {
 public:
  FakeCall(const c10::OperatorHandle& op, torch::jit::Stack& stack)
      : op_(op),
        info_(info_of(op)),
        stack_(stack),
        first_(stack.size() - op.schema().arguments().size()) {}

  void run() {
    find_device();
    if (!device_) return run_on_real_tensors();
    if (device_->is_cuda()) check_thread(op_.schema().name());
    if (info_.reads_data) return read_number();
    if (info_.is_composite)
      return op_.callBoxedForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd, stack_);
    if (info_.runs_python && is_in_program())
      return op_.callBoxedForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd, stack_);
    CallCache* const cache = CallCache::innermost();
    if (cache != nullptr && cache->answer(op_, stack_, first_)) return;
    if (info_.is_collective) return run_collective(op_, stack_);
    if (info_.of_one_dtype != 0) check_one_dtype(op_.schema(), stack_, first_, info_.of_one_dtype);
    if (!info_.takes_host_tensors && is_in_program())
      check_one_device(op_.schema(), stack_, first_);
    note_inputs();
    if (observer_ && observer_->follows_values()) followed_.emplace(op_, arguments_);
    swap_in_meta_tensors();
    run_on_meta_tensors();
    if (info_.writes_arguments) adopt_changes();
    wrap_outputs();
    if (followed_) followed_->finish(results());
    if (observer_) upper_bounds_.mark(op_, results());
    if (info_.writes_arguments && is_in_program())
      write_to_host(op_.schema(), arguments_, observer_);
    if (observer_) report();
    if (cache != nullptr) cache->finish(op_, results());
    if (device_->is_cpu() && is_in_program()) copy_to_host();
  }

 private:
  struct Pair {
    at::Tensor fake, meta;
  };

  std::size_t argument_count() const { return op_.schema().arguments().size(); }

  // The device of the result: the `device` argument, else the fake arguments' device, where CUDA
  // takes precedence. A factory call without a device uses the mode's factory device.
  void find_device() {
    bool any_fake = false, any_real = false;
    for (std::size_t i = first_; i < stack_.size(); ++i)
      for_each_tensor(stack_[i], [&](const at::Tensor& tensor) {
        if (!is_fake(tensor)) {
          any_real |= tensor.defined();
          return;
        }
        any_fake = true;
        if (!device_ || device_->is_cpu()) device_ = tensor.device();
      });
    if (!info_.has_device_argument) return;
    for (std::size_t i = 0; i < argument_count(); ++i) {
      if (op_.schema().arguments()[i].name() != "device") continue;
      c10::IValue& value = stack_[first_ + i];
      if (value.isDevice()) {
        const c10::Device wanted = value.toDevice();
        if (is_in_program()) check_index(wanted);
        if (any_fake || wanted.is_cuda()) device_ = with_index(wanted);
      } else if (!any_fake && !any_real && !is_in_program()) {
        device_ = c10::Device(c10::kCUDA, 0);
        value = *device_;
      }
    }
  }

  void run_on_real_tensors() {
    const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Fake);
    const RealCall real_call;
    op_.callBoxed(&stack_);
  }

  // Reads a number from a tensor, if it is known or the observer supplies one.
  void read_number() {
    const auto observer = current_observer();
    if (const auto values = values_read_from(stack_[first_].toTensor(), observer)) {
      const OnRealTensors on_real_tensors;
      const at::Scalar number = at::_local_scalar_dense(*values);
      if (observer && !number.isFloatingPoint()) observer->on_known_number(number.toLong());
      stack_.resize(first_);
      stack_.emplace_back(number);
      return;
    }
    const double number = number_read_from(stack_[first_].toTensor(), observer);
    const bool is_real = at::isFloatingType(stack_[first_].toTensor().scalar_type());
    stack_.resize(first_);
    if (is_real)
      stack_.emplace_back(number);
    else
      stack_.emplace_back(static_cast<std::int64_t>(number));
  }

  void note_inputs() {
    if (!device_->is_meta()) observer_ = current_observer();
    if (!observer_) return;
    arguments_.assign(stack_.begin() + static_cast<std::ptrdiff_t>(first_), stack_.end());
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      for_each_tensor(arguments_[i], [&](const at::Tensor& tensor) {
        inputs_.push_back(seen(tensor, *observer_));
        upper_bounds_.note_input(tensor);
        positions_.push_back(static_cast<std::uint8_t>(i));
      });
    observer_->on_call_begin(op_);
  }

  at::Tensor to_meta(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    for (const Pair& pair : pairs_)
      if (pair.fake.is_same(tensor)) return pair.meta;
    check_layout(op_, tensor);
    pairs_.push_back({tensor, is_fake(tensor) ? unwrap(tensor) : meta_of_real(tensor)});
    return pairs_.back().meta;
  }

  void swap_in_meta_tensors() {
    for (std::size_t i = first_; i < stack_.size(); ++i) {
      if (stack_[i].isDevice())
        stack_[i] = c10::Device(c10::kMeta);
      else
        convert_tensors(stack_[i], [&](const at::Tensor& tensor) { return to_meta(tensor); });
    }
  }

  void run_on_meta_tensors() {
    // The program may have registered a kernel since.
    if (is_in_program() && !info_.has_shape_kernel && !has_shape_kernel(op_))
      throw no_shape_kernel(op_);
    const OnRealTensors below_autograd;  // Meta tensors use the same path.
    op_.callBoxed(&stack_);
  }

  void adopt_changes() {
    for (const Pair& pair : pairs_)
      if (is_fake(pair.fake)) adopt(pair.fake, pair.meta);
  }

  void wrap_outputs() {
    const std::size_t count = op_.schema().returns().size();
    const std::size_t first = stack_.size() - count;
    for (std::size_t made = 0; made < count; ++made) {
      const std::size_t i = info_.makes_outputs_backwards ? count - 1 - made : made;
      const bool on_host = (info_.host_outputs >> i & 1U) != 0;
      const c10::Device device = on_host ? c10::Device(c10::kCPU) : *device_;
      convert_tensors(stack_[first + i],
                      [&](const at::Tensor& tensor) { return wrap(tensor, device); });
    }
  }

  at::Tensor wrap(const at::Tensor& tensor, c10::Device device) const {
    if (!tensor.defined()) return tensor;
    for (const Pair& pair : pairs_)
      if (pair.meta.is_same(tensor)) return pair.fake;
    check_layout(op_, tensor);
    if (device.is_meta()) return tensor;  // A query about shapes, without a device.
    return tensor.is_meta() ? wrap_meta(tensor, device, observer_) : tensor;
  }

  std::span<const c10::IValue> results() const {
    return std::span<const c10::IValue>(stack_).last(op_.schema().returns().size());
  }

  bool is_asynchronous() const {
    const std::vector<c10::Argument>& arguments = op_.schema().arguments();
    for (std::size_t i = 0; i < arguments_.size(); ++i)
      if (arguments[i].name() == "non_blocking" && arguments_[i].isBool())
        return arguments_[i].toBool();
    return false;
  }

  // Host results of a program are copied to real tensors, which it can read.
  void copy_to_host() {
    for (std::size_t i = stack_.size() - op_.schema().returns().size(); i < stack_.size(); ++i)
      convert_tensors(stack_[i], [&](const at::Tensor& tensor) {
        return is_fake(tensor) ? host_copy(tensor, observer_, is_asynchronous()) : tensor;
      });
  }

  void report() {
    for (const c10::IValue& result : results())
      for_each_tensor(
          result, [&](const at::Tensor& tensor) { outputs_.push_back(seen(tensor, *observer_)); });
    observer_->on_call({op_, inputs_, positions_, outputs_, arguments_});
  }

  const c10::OperatorHandle& op_;
  const OperatorInfo& info_;
  torch::jit::Stack& stack_;
  const std::size_t first_;
  std::optional<c10::Device> device_;
  std::shared_ptr<Observer> observer_;
  c10::SmallVector<Pair, 8> pairs_;
  c10::SmallVector<SeenTensor, 8> inputs_, outputs_;
  c10::SmallVector<std::uint8_t, 8> positions_;
  std::vector<c10::IValue> arguments_;
  std::optional<FollowedCall> followed_;
  UpperBoundSizes upper_bounds_;
};

void fallback(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack) try {
  FakeCall(op, *stack).run();
} catch (const Error& error) {
  if (is_in_program()) throw_for_caller(error);
  throw;                                           // Unchanged: callers check its class.
} catch (const c10::NotImplementedError& error) {  // From a call inside of a composite kernel.
  if (!is_in_program() || !lacks_shape_kernel(error)) throw;
  throw_for_caller(no_shape_kernel(op));
}

// Autograd detaches every saved tensor: a copy of the handle, not a device call.
at::Tensor detach(const at::Tensor& self) {
  if (!is_fake(self)) {
    c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Fake);
    return at::detach(self);
  }
  return at::Tensor(
      self.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), false));
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  if (is_fake(self)) {
    if (const auto observer = current_observer()) observer->on_stream_use();
    return;
  }
  c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::Fake);
  self.record_stream(stream);
}

}  // namespace
}  // namespace symprof::meta

TORCH_LIBRARY_IMPL(_, Fake, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&symprof::meta::fallback>());
}

TORCH_LIBRARY_IMPL(aten, Fake, library) {
  library.impl("detach", &symprof::meta::detach);
  library.impl("record_stream", &symprof::meta::record_stream);
}
