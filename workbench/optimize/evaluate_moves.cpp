// Operators that move elements without computing.
#include <cstdlib>
#include <numeric>

#include "trace/onnx/tensors.h"
#include "workbench/optimize/evaluation.h"

namespace symprof::workbench::evaluation {
namespace {

Results reshape(const Call& call) {
  if (!call.input(1)) return std::nullopt;
  Sizes sizes = integers_of(*call.input(1));
  const Sizes& own = call.input(0)->spec.sizes;
  std::int64_t known = 1, open = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0 && integer(call.node, "allowzero", 0) == 0) {
      if (i >= own.size()) return std::nullopt;
      sizes[i] = own[i];
    }
    if (sizes[i] == -1)
      open = static_cast<std::int64_t>(i);
    else if (sizes[i] < 0 || __builtin_mul_overflow(known, sizes[i], &known))
      return std::nullopt;
  }
  if (open >= 0) {
    if (known == 0) return std::nullopt;
    sizes[static_cast<std::size_t>(open)] = call.input(0)->spec.numel() / known;
  }
  return reshaped(*call.input(0), sizes);
}

Results squeeze(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  Sizes axes = call.list(1, "axes");
  for (std::int64_t& axis : axes) axis = axis_of(axis, own.size());
  Sizes sizes;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const bool named =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (axes.empty() ? own[i] != 1 : !named) sizes.push_back(own[i]);
  }
  return reshaped(*call.input(0), sizes);
}

Results unsqueeze(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  Sizes axes = call.list(1, "axes");
  const std::size_t rank = own.size() + axes.size();
  for (std::int64_t& axis : axes) axis = axis_of(axis, rank);
  Sizes sizes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end())
      sizes.push_back(1);
    else if (next < own.size())
      sizes.push_back(own[next++]);
  }
  return reshaped(*call.input(0), sizes);
}

Results transpose(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  Sizes perm = integers(call.node, "perm");
  const std::size_t rank = source.spec.sizes.size();
  if (perm.empty())
    for (std::size_t i = rank; i-- > 0;) perm.push_back(static_cast<std::int64_t>(i));
  if (perm.size() != rank) return std::nullopt;
  Sizes sizes, strides;
  for (const std::int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
    sizes.push_back(source.spec.sizes[static_cast<std::size_t>(axis)]);
    strides.push_back(source.spec.strides[static_cast<std::size_t>(axis)]);
  }
  return gathered(source, sizes, source.spec.numel(), [&](const Sizes& index) {
    return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
  });
}

Results slice(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  const Sizes& own = source.spec.sizes;
  const Sizes starts = call.list(1, "starts"), ends = call.list(2, "ends");
  Sizes axes = call.list(3, "axes"), steps = call.list(4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return std::nullopt;
  Sizes first(own.size(), 0), step(own.size(), 1), sizes = own;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = axis_of(axes[i], own.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(own.size()) || steps[i] == 0)
      return std::nullopt;
    const auto d = static_cast<std::size_t>(axis);
    const std::int64_t size = own[d], low = steps[i] > 0 ? 0 : -1,
                       high = steps[i] > 0 ? size : size - 1;
    const auto bound = [&](std::int64_t at) {
      return std::clamp(at < 0 ? at + size : at, low, high);
    };
    const std::int64_t begin = std::clamp(bound(starts[i]), std::int64_t{0}, high);
    const std::int64_t end = ends[i] < -size ? low : bound(ends[i]);
    const std::int64_t span = steps[i] > 0 ? end - begin : begin - end, stride = std::abs(steps[i]);
    first[d] = begin;
    step[d] = steps[i];
    sizes[d] = std::max<std::int64_t>(0, (span + stride - 1) / stride);
  }
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      place += (first[d] + index[d] * step[d]) * source.spec.strides[d];
    return place;
  });
}

Results gather(const Call& call) {
  const ConstantTensor &source = *call.input(0), &indices = *call.input(1);
  const Sizes& own = source.spec.sizes;
  const std::int64_t axis = axis_of(integer(call.node, "axis", 0), own.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(own.size())) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  const Sizes places = integers_of(indices);
  Sizes sizes(own.begin(), own.begin() + axis);
  sizes.insert(sizes.end(), indices.spec.sizes.begin(), indices.spec.sizes.end());
  sizes.insert(sizes.end(), own.begin() + axis + 1, own.end());
  const std::size_t inner = indices.spec.sizes.size();
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t place = 0, which = 0;
    for (std::size_t d = 0; d < at; ++d) place += index[d] * source.spec.strides[d];
    for (std::size_t d = 0; d < inner; ++d) which += index[at + d] * indices.spec.strides[d];
    std::int64_t row = places[static_cast<std::size_t>(which)];
    if (row < 0) row += own[at];
    if (row < 0 || row >= own[at]) return std::int64_t{-1};
    place += row * source.spec.strides[at];
    for (std::size_t d = at + 1; d < own.size(); ++d)
      place += index[d - 1 + inner] * source.spec.strides[d];
    return place;
  });
}

Results gather_nd(const Call& call) {
  const ConstantTensor &source = *call.input(0), &indices = *call.input(1);
  if (integer(call.node, "batch_dims", 0) != 0 || indices.spec.sizes.empty()) return std::nullopt;
  const Sizes places = integers_of(indices);
  const auto depth = static_cast<std::size_t>(indices.spec.sizes.back());
  const Sizes& own = source.spec.sizes;
  if (depth > own.size()) return std::nullopt;
  Sizes sizes(indices.spec.sizes.begin(), indices.spec.sizes.end() - 1);
  const std::size_t outer = sizes.size();
  sizes.insert(sizes.end(), own.begin() + static_cast<std::ptrdiff_t>(depth), own.end());
  return gathered(source, sizes, call.most_elements, [&](const Sizes& index) {
    std::int64_t which = 0, place = 0;
    for (std::size_t d = 0; d < outer; ++d) which += index[d] * indices.spec.strides[d];
    for (std::size_t d = 0; d < depth; ++d) {
      std::int64_t row = places[static_cast<std::size_t>(which) + d];
      if (row < 0) row += own[d];
      if (row < 0 || row >= own[d]) return std::int64_t{-1};
      place += row * source.spec.strides[d];
    }
    for (std::size_t d = depth; d < own.size(); ++d)
      place += index[d - depth + outer] * source.spec.strides[d];
    return place;
  });
}

Results concat(const Call& call) {
  const ConstantTensor& first = *call.input(0);
  const std::size_t rank = first.spec.sizes.size();
  const std::int64_t axis = axis_of(integer(call.node, "axis", 0), rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  const auto at = static_cast<std::size_t>(axis);
  auto out = std::make_shared<ConstantTensor>();
  out->spec = first.spec;
  out->spec.sizes[at] = 0;
  for (const ConstantPointer& input : call.inputs) {
    if (!input || input->spec.sizes.size() != rank || input->spec.dtype != first.spec.dtype)
      return std::nullopt;
    out->spec.sizes[at] += input->spec.sizes[at];
  }
  out->spec.strides = contiguous_strides(out->spec.sizes);
  if (out->spec.numel() > call.most_elements) return std::nullopt;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < at; ++d) outer *= first.spec.sizes[d];
  for (std::int64_t row = 0; row < outer; ++row)
    for (const ConstantPointer& input : call.inputs) {
      const std::size_t width = input->data.size() / static_cast<std::size_t>(outer);
      const auto begin = input->data.begin() + static_cast<std::ptrdiff_t>(width) * row;
      out->data.insert(out->data.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
  return one(out);
}

Results expand(const Call& call) {
  return expanded(*call.input(0), integers_of(*call.input(1)), call.most_elements);
}

Results constant_of_shape(const Call& call) {
  const auto* value = find_attribute(call.node, "value");
  const ConstantPointer fill =
      value ? trace::constant_tensor(value->t(), "value") : make_constant(DType::float32, {1}, {0});
  return fill ? gathered(*fill, integers_of(*call.input(0)), call.most_elements,
                         [](const Sizes&) { return std::int64_t{0}; })
              : std::nullopt;
}

Results trilu(const Call& call) {
  const ConstantTensor& source = *call.input(0);
  const std::size_t rank = source.spec.sizes.size();
  if (rank < 2) return std::nullopt;
  if (call.input(1) && call.input(1)->spec.numel() != 1) return std::nullopt;
  const std::int64_t k = call.input(1) ? integers_of(*call.input(1)).front() : 0;
  const bool upper = integer(call.node, "upper", 1) != 0;
  auto out = std::make_shared<ConstantTensor>(source);
  const std::int64_t rows = source.spec.sizes[rank - 2], columns = source.spec.sizes[rank - 1];
  const auto width = static_cast<std::size_t>(element_bytes(source.spec.dtype));
  for (std::int64_t i = 0; i < source.spec.numel(); ++i) {
    const std::int64_t row = i / columns % rows, column = i % columns;
    if (upper ? column - row < k : column - row > k)
      std::memset(out->data.data() + static_cast<std::size_t>(i) * width, 0, width);
  }
  return one(out);
}

Results where(const Call& call) {
  const ConstantTensor &truth = *call.input(0), &yes = *call.input(1), &no = *call.input(2);
  if (yes.spec.dtype != no.spec.dtype) return std::nullopt;
  const auto pair = broadcast(yes.spec.sizes, no.spec.sizes);
  const auto sizes = pair ? broadcast(*pair, truth.spec.sizes) : std::nullopt;
  if (!sizes) return std::nullopt;
  const Results choice = expanded(truth, *sizes, call.most_elements),
                a = expanded(yes, *sizes, call.most_elements),
                b = expanded(no, *sizes, call.most_elements);
  if (!choice || !a || !b) return std::nullopt;
  auto out = std::make_shared<ConstantTensor>(*b->front());
  const auto width = static_cast<std::size_t>(element_bytes(out->spec.dtype));
  const Sizes chosen = integers_of(*choice->front());
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] != 0)
      std::memcpy(out->data.data() + i * width, a->front()->data.data() + i * width, width);
  return one(out);
}

Results shape(const Call& call) {
  const Sizes& own = call.input(0)->spec.sizes;
  const auto rank = static_cast<std::int64_t>(own.size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(integer(call.node, "start", 0)),
                     end = std::max(start, bound(integer(call.node, "end", rank)));
  return one(make_integers({end - start}, {own.begin() + start, own.begin() + end}));
}

Results size(const Call& call) { return one(make_integers({}, {call.input(0)->spec.numel()})); }

Results identity(const Call& call) { return one(std::make_shared<ConstantTensor>(*call.input(0))); }

constexpr Evaluation evaluations[] = {
    {"Concat", 1, concat},      {"ConstantOfShape", 1, constant_of_shape},
    {"Expand", 2, expand},      {"Gather", 2, gather},
    {"GatherND", 2, gather_nd}, {"Identity", 1, identity},
    {"Reshape", 1, reshape},    {"Shape", 1, shape},
    {"Size", 1, size},          {"Slice", 1, slice},
    {"Squeeze", 1, squeeze},    {"Transpose", 1, transpose},
    {"Trilu", 1, trilu},        {"Unsqueeze", 1, unsqueeze},
    {"Where", 3, where},
};

}  // namespace

const Evaluation* find_move(std::string_view op) {
  for (const Evaluation& rule : evaluations)
    if (rule.op == op) return &rule;
  return nullptr;
}

}  // namespace symprof::workbench::evaluation
