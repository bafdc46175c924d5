#include "trace/python/source/written_dtypes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace symprof;
using namespace symprof::trace;

/// "float32" for a cast that names it, "as x.dtype" for one that follows, "?" for one that does not
/// show.
std::string described(const WrittenDType& written) {
  if (written.source == DTypeSource::unknown) return "?";
  if (written.source == DTypeSource::followed) return "as " + std::string(written.expression);
  return std::string(name(written.dtype.value()));
}

std::vector<std::string> casts(std::string_view line) {
  std::vector<std::string> result;
  for (const WrittenDType& cast : written_casts(line)) result.push_back(described(cast));
  return result;
}

using Casts = std::vector<std::string>;

}  // namespace

TEST_SUITE("written_dtypes") {
  TEST_CASE("literal dtypes and dtypes taken from a tensor are told apart") {
    CHECK(casts("h = x.to(torch.float32)") == Casts{"float32"});
    CHECK(casts("return self.weight * h.to(input_dtype)") == Casts{"as input_dtype"});
    CHECK(casts("mask = mask.to(dtype=x.dtype, device=x.device)") == Casts{"as x.dtype"});
    CHECK(casts("f = i.float() * self.f.to(device=x.device, dtype=torch.float)") ==
          Casts{"float32", "float32"});
    CHECK(casts("x = x.type(torch.HalfTensor).type('torch.DoubleTensor')") ==
          Casts{"float16", "float64"});
    CHECK(casts("x = y.to(torch.get_default_dtype())") == Casts{"float32"});
    CHECK(casts("n = mask.long().sum(-1).int()") == Casts{"int64", "int32"});
  }

  TEST_CASE("casts come in the order in which Python runs them") {
    CHECK(casts("output = self._norm(x.float()).type_as(x)") == Casts{"float32", "as x"});
    CHECK(casts("a = b.to(f(c.float()).dtype)  # d.half()") == Casts{"float32", "float32"});
    CHECK(casts("a = b.to(f(c.half(), 'd)').dtype)").size() == 2);
  }

  TEST_CASE("a call that continues on the next line is unknown, and other calls are no casts") {
    CHECK(casts("x = x.to(") == Casts{"?"});
    CHECK(casts("x = x.to(torch.float16,") == Casts{"float16"});
    CHECK(casts("x = float(y) + torch.float(3) + self.to_q(x) + x.type()").empty());
  }

  TEST_CASE("the dtype argument of a function") {
    const auto softmax = [](std::string_view line) {
      return described(written_dtype(line, "softmax"));
    };
    CHECK(softmax("a = F.softmax(a, dim=-1, dtype=torch.float32).to(q.dtype)") == "float32");
    CHECK(softmax("a = a.softmax(f(x, dtype=torch.float32), dtype=q.dtype)") == "as q.dtype");
    CHECK(softmax("a = a.softmax(-1).to(dtype=q.dtype)") == "?");
    CHECK(softmax("a = softmax(b, dtype=b.dtype) + softmax(c, dtype=torch.float32)") == "?");
  }
}
