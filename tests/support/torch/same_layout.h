// Runs the same call on real CPU tensors and on tensors without storage, and compares the layouts.
#pragma once

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <functional>
#include <tuple>
#include <vector>

namespace symprof::tests {

/// Makes the same arguments on either device. Values are small and positive.
struct Arguments {
  at::Device device;

  at::Tensor real(at::IntArrayRef sizes) const {
    return at::empty(sizes, device).uniform_(0.1, 0.9);
  }
  at::Tensor channels_last(at::IntArrayRef sizes) const {
    return real(sizes).contiguous(at::MemoryFormat::ChannelsLast);
  }
  at::Tensor index(at::IntArrayRef sizes) const { return zeros(sizes, at::kLong); }
  at::Tensor complex(at::IntArrayRef sizes) const { return zeros(sizes, at::kComplexFloat); }
  at::Tensor flags(at::IntArrayRef sizes) const { return zeros(sizes, at::kBool); }
  at::Tensor zeros(at::IntArrayRef sizes, at::ScalarType dtype) const {
    return at::zeros(sizes, at::TensorOptions(device).dtype(dtype));
  }
};

using Outputs = std::vector<at::Tensor>;

inline Outputs outputs(const at::Tensor& tensor) { return {tensor}; }

template <typename... Tensors>
Outputs outputs(const std::tuple<Tensors...>& tensors) {
  return std::apply([](const auto&... tensor) { return Outputs{tensor...}; }, tensors);
}

/// A call by name. `Call` takes Arguments and returns a tensor or a tuple of tensors.
struct Row {
  template <typename Call>
  Row(const char* name, Call call)
      : name(name), run([call](const Arguments& arguments) { return outputs(call(arguments)); }) {}

  const char* name;
  std::function<Outputs(const Arguments&)> run;
};

inline void check_same_layout(const Row& row) {
  INFO(row.name);
  const Outputs wanted = row.run({at::kCPU}), found = row.run({at::kMeta});
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CHECK(found[i].is_meta());
    CHECK(found[i].sizes() == wanted[i].sizes());
    CHECK(found[i].strides() == wanted[i].strides());
    CHECK((found[i].scalar_type() == wanted[i].scalar_type()));
  }
}

}  // namespace symprof::tests
