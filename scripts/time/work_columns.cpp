#include "scripts/time/work_columns.h"

#include <concepts>
#include <type_traits>
#include <variant>

namespace symprof::profile {
namespace {

template <class Given, class Wanted>
concept Is = std::same_as<std::remove_const_t<Given>, Wanted>;

void members(Is<ProductWork> auto& work, const auto& take) {
  take("batch", work.batch), take("m", work.m), take("n", work.n), take("k", work.k);
  take("operand_bytes", work.operand_bytes), take("result_bytes", work.result_bytes);
  take("weight_sets", work.weight_sets), take("alignment", work.alignment);
  take("shares_right", work.shares_right);
  take("layout", work.layout), take("kernel", work.kernel);
}

void members(Is<AttentionWork> auto& work, const auto& take) {
  take("batch", work.batch), take("heads", work.heads), take("kv_heads", work.kv_heads);
  take("queries", work.queries), take("keys", work.keys), take("head_dim", work.head_dim);
  take("number_bytes", work.number_bytes), take("causal", work.causal);
  take("backward", work.backward);
}

void members(Is<ConvolutionWork> auto& work, const auto& take) {
  take("pass", work.pass), take("batch", work.batch), take("in_channels", work.in_channels);
  take("out_channels", work.out_channels), take("groups", work.groups);
  take("in", work.in), take("out", work.out), take("window", work.window);
  take("number_bytes", work.number_bytes), take("is_winograd", work.is_winograd);
  take("channels_last", work.channels_last);
}

void members(Is<RecurrentWork> auto& work, const auto& take) {
  take("steps", work.steps), take("batch", work.batch), take("hidden", work.hidden);
  take("gates", work.gates), take("number_bytes", work.number_bytes);
  take("backward", work.backward);
}

void members(Is<FunctionWork> auto& work, const auto& take) {
  take("function", work.function), take("numbers", work.numbers), take("bytes", work.bytes);
}

void members(Is<RowWork> auto& work, const auto& take) {
  take("rows", work.rows), take("length", work.length), take("bytes", work.bytes);
}

void members(Is<StreamWork> auto& work, const auto& take) { take("bytes", work.bytes); }

Work example_of(const Formula& formula) {
  if (formula.sizes == product_sizes) return ProductWork();
  if (formula.sizes == attention_sizes) return AttentionWork();
  if (formula.sizes == convolution_sizes || formula.sizes == depthwise_sizes)
    return ConvolutionWork();
  if (formula.sizes == recurrent_sizes) return RecurrentWork();
  if (formula.sizes == row_sizes) return RowWork();
  if (formula.sizes == function_sizes) return FunctionWork();
  return StreamWork();
}

}  // namespace

Work work_of(const Formula& formula, const Columns& columns) {
  Work work = example_of(formula);
  const auto read = [&]<class Member>(const char* name, Member& member) {
    const auto found = columns.find(name);
    if (found != columns.end()) member = static_cast<Member>(found->second);
  };
  std::visit([&](auto& one) { members(one, read); }, work);
  if (auto* product = std::get_if<ProductWork>(&work); product && !columns.contains("result_bytes"))
    product->result_bytes = product->operand_bytes;
  return work;
}

Columns columns_of(const Work& work) {
  Columns columns;
  const auto write = [&](const char* name, const auto& member) {
    columns[name] = static_cast<std::int64_t>(member);
  };
  std::visit([&](const auto& one) { members(one, write); }, work);
  return columns;
}

}  // namespace symprof::profile
