// The grammar of layer names, TensorRT 7 to 10.
#include "engine/names.h"

#include <doctest/doctest.h>

namespace symprof::engine {
namespace {

/// The terms of a name, helpers with a '~' before them and unnamed ones as "?".
std::vector<std::string> terms(std::string_view name) {
  std::vector<std::string> texts;
  for (const NameTerm& term : name_terms(name))
    texts.push_back(term.kind == NameTerm::Kind::unnamed  ? "?"
                    : term.kind == NameTerm::Kind::helper ? "~" + term.text
                                                          : term.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("engine_names") {
  TEST_CASE("sequential, parallel and pointwise fusions") {
    CHECK(terms("a + b + c") == Texts{"a", "b", "c"});
    CHECK(terms("a + b || c + d || e") == Texts{"a", "b", "c", "d", "e"});
    CHECK(terms("PWN(PWN(a), PWN(w + (Unnamed Layer* 3) [Shuffle], b))") ==
          Texts{"a", "w", "?", "b"});
    CHECK(terms("fusedPointwiseNode(a, b)") == Texts{"a", "b"});
    CHECK(terms("x/Conv + PWN(PWN(x/Sigmoid), x/Mul)") == Texts{"x/Conv", "x/Sigmoid", "x/Mul"});
  }

  TEST_CASE("names that contain separators") {
    CHECK(terms("b3/read:0 + unsqueeze_node_after_b3/read:0 + add_2") ==
          Texts{"b3/read:0", "~b3/read:0", "add_2"});
    CHECK(terms("%in : Tensor = aten::_convolution(%1, %2) + %out") ==
          Texts{"%in : Tensor = aten::_convolution(%1, %2)", "%out"});
    CHECK(terms("a( + b") == Texts{"a(", "b"});
  }

  TEST_CASE("helpers belong to the named node") {
    CHECK(terms("copied_squeeze_after_(Unnamed Layer* 5) [ElementWise]").size() == 1);
    CHECK(terms("fc.weight + QuantizeLinear_3 + transpose_before_Gemm_5 + Gemm_5") ==
          Texts{"fc.weight", "QuantizeLinear_3", "~Gemm_5", "Gemm_5"});
    CHECK(terms("QuantizeLinear_31_quantize_scale_node + Conv_33") ==
          Texts{"QuantizeLinear_31", "Conv_33"});
    CHECK(terms("QuantizeLinear_378_clone_0") == Texts{"QuantizeLinear_378"});
    CHECK(terms("ONNXTRT_Broadcast_4") == Texts{"?"});
  }

  TEST_CASE("kernels of regions") {
    CHECK(terms("__myl_AddCast_myl0_57").empty());
    CHECK(terms("{ForeignNode[/a + /b.../c]}").empty());
    CHECK(terms("/l_0/key/MatMul+/l_0/query/MatMul_myl0_1") ==
          Texts{"/l_0/key/MatMul", "/l_0/query/MatMul"});
    const auto [base, number] = split_kernel_number("node_linear_1_2_myl5_3");
    CHECK(base == "node_linear_1_2");
    REQUIRE(number.has_value());
    CHECK(number->region == 5);
    CHECK(number->kernel == 3);
    CHECK_FALSE(split_kernel_number("Conv_3").second.has_value());
    const auto region = region_name("{ForeignNode[/e/Unsqueeze_3 + /e/Unsqueeze_4.../m/Squeeze]}");
    REQUIRE(region.has_value());
    CHECK(region->first == "/e/Unsqueeze_3 + /e/Unsqueeze_4");
    CHECK(region->last == "/m/Squeeze");
  }

  TEST_CASE("reformats name the layer that they serve") {
    const auto found = reformat_name("Reformatting CopyNode for Output Tensor 1 to A + B");
    REQUIRE(found.has_value());
    CHECK_FALSE(found->is_input);
    CHECK(found->tensor == 1);
    CHECK(found->layer == "A + B");
    const auto old = reformat_name("conv1/7x7_s2 + conv1/relu input reformatter 0");
    REQUIRE(old.has_value());
    CHECK(old->layer == "conv1/7x7_s2 + conv1/relu");
    CHECK_FALSE(reformat_name("Conv_0").has_value());
  }
}

}  // namespace symprof::engine
