// Dumps: round trips, and exchange with the Python tool (truth/dumps/).
#include "trace/dump/dump.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "tests/support/source_folder.h"

namespace symprof::dump_test {
namespace {

namespace dump = trace::dump;
using dump::Kind;
using dump::Side;
using dump::Value;

constexpr DType dtypes[] = {DType::boolean,         DType::int8,        DType::int16,
                            DType::int32,           DType::int64,       DType::uint8,
                            DType::uint16,          DType::uint32,      DType::uint64,
                            DType::float16,         DType::float32,     DType::float64,
                            DType::bfloat16,        DType::complex64,   DType::complex128,
                            DType::float8_e4m3fn,   DType::float8_e5m2, DType::float8_e4m3fnuz,
                            DType::float8_e5m2fnuz, DType::int4,        DType::uint4};

std::string truth(const std::string& name) {
  return test::source_folder() + "/truth/dumps/" + name;
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Three elements of bytes 0 and 1: valid for each dtype, including bool.
std::shared_ptr<const ConstantTensor> some(DType dtype) {
  auto tensor = std::make_shared<ConstantTensor>();
  tensor->spec = {dtype, {1, 3}, contiguous_strides({1, 3}), 0};
  tensor->data.resize(static_cast<std::size_t>(tensor->spec.bytes()));
  for (std::size_t i = 0; i < tensor->data.size(); ++i) tensor->data[i] = std::byte(i % 2);
  return tensor;
}

Value arguments(std::vector<Value> items, std::vector<Value> named = {},
                std::vector<std::string> keys = {}) {
  return dump::container_value(
      Kind::tuple, {dump::container_value(Kind::tuple, std::move(items)),
                    dump::container_value(Kind::dictionary, std::move(named), std::move(keys))});
}

/// A dump with everything the format supports.
dump::Dump everything() {
  dump::Dump all;
  Value kinds = dump::container_value(Kind::dictionary);
  for (const DType dtype : dtypes) {
    kinds.keys.emplace_back(name(dtype));
    kinds.items.push_back(dump::tensor_value(some(dtype)));
  }
  const Value x = dump::tensor_value(some(DType::float32), "x");
  all.entries.push_back(
      {"model.decoder", 0, Side::input,
       arguments({x, {}, x}, {x, dump::boolean_value(true)}, {"mask", "causal"})});
  all.entries.push_back({"model.decoder", 0, Side::output, x});
  all.entries.push_back({"model.decoder", 1, Side::input, arguments({})});
  all.entries.push_back({"model.decoder", 1, Side::output, dump::container_value(Kind::list)});
  all.entries.push_back({"model.decoder", 0, Side::weights,
                         dump::container_value(Kind::dictionary, {x}, {"linear.weight"})});
  Value names;
  names.kind = Kind::array;
  names.strings = {"a", "b\xc3\xa9", ""};
  names.string_sizes = {3};
  all.entries.push_back({"extra", 0, Side::other,
                         dump::container_value(Kind::tuple, {kinds,
                                                             dump::text_value("word"),
                                                             names,
                                                             dump::integer_value(-7),
                                                             dump::real_value(2.5),
                                                             {}})});
  all.left_out.push_back({"model", 2, Side::output, 1 << 30});
  return all;
}

bool equal(const Value& a, const Value& b) {
  if (a.keys != b.keys || a.items.size() != b.items.size() || a.strings != b.strings ||
      a.string_sizes != b.string_sizes || a.label != b.label || a.class_name != b.class_name)
    return false;
  if (static_cast<bool>(a.tensor) != static_cast<bool>(b.tensor)) return false;
  if (a.tensor && (a.tensor->spec != b.tensor->spec || a.tensor->data != b.tensor->data))
    return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!equal(a.items[i], b.items[i])) return false;
  const auto plain = [](Kind kind) { return kind == Kind::array ? Kind::tensor : kind; };
  return plain(a.kind) == plain(b.kind);
}

void check_equal(const dump::Dump& a, const dump::Dump& b) {
  REQUIRE(a.entries.size() == b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    INFO(dump::key_text(a.entries[i]));
    CHECK(dump::key_text(a.entries[i]) == dump::key_text(b.entries[i]));
    CHECK(equal(a.entries[i].value, b.entries[i].value));
  }
}

std::string refusal(const std::string& bytes) {
  try {
    dump::parse_dump(bytes, "dump.onnx");
  } catch (const Error& error) {
    return error.summary();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE("dump") {
  TEST_CASE("a dump round-trips: dtypes, None, strings, numbers, containers") {
    const dump::Dump all = everything();
    const dump::Written written = dump::write_dump(all, "all.onnx.data");
    CHECK(written.data.empty());
    const dump::Dump read = dump::parse_dump(written.model, "all.onnx");
    check_equal(read, all);
    REQUIRE(read.left_out.size() == 1);
    CHECK(read.left_out[0].name == "model");
    CHECK(read.left_out[0].iteration == 2);
    CHECK(read.left_out[0].bytes == 1 << 30);
  }

  TEST_CASE("the bytes are readable by the Python tool") {
    // truth/dumps/symprof.json has the values it read.
    const std::string written = dump::write_dump(everything(), "symprof.onnx.data").model;
    if (std::getenv("SYMPROF_REWRITE_GOLDEN") != nullptr)
      std::ofstream(truth("symprof.onnx"), std::ios::binary) << written;
    CHECK(written == bytes_of_file(truth("symprof.onnx")));
  }

  TEST_CASE("beyond the limit of one file, large tensors are in a second file") {
    const auto folder = std::filesystem::temp_directory_path() / "symprof_dump_outside";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    auto large = std::make_shared<ConstantTensor>(*some(DType::float32));
    large->spec.sizes = {256};
    large->spec.strides = {1};
    large->data.assign(1024, std::byte{7});
    dump::Dump all = everything();
    for (int i = 0; i < 2; ++i)
      all.entries.push_back({"large", i, Side::output, dump::tensor_value(large)});
    const dump::Written written = dump::write_dump(all, "all.onnx.data", 0);
    CHECK(written.data.size() == 2 * 1024);
    std::ofstream(folder / "all.onnx.data", std::ios::binary) << written.data;
    check_equal(dump::parse_dump(written.model, (folder / "all.onnx").string()), all);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("a None omitted by the Python tool is restored at its position") {
    const dump::Dump values = dump::read_dump(truth("values.onnx"));
    const auto gap = std::find_if(values.entries.begin(), values.entries.end(),
                                  [](const dump::Entry& entry) { return entry.name == "gap"; });
    REQUIRE(gap != values.entries.end());
    CHECK(dump::text_of(gap->value) == "(T1s1x3,None,T1s1x3)");
  }

  TEST_CASE("keys are made safe for names") {
    dump::Dump odd;
    const Value x = dump::tensor_value(some(DType::float32));
    odd.entries.push_back(
        {"a____b,c", 3, Side::input, arguments({x}, {x, x}, {"__main", "input_"})});
    const dump::Dump read = dump::parse_dump(dump::write_dump(odd, "odd.data").model, "odd.onnx");
    REQUIRE(read.entries.size() == 1);
    CHECK(read.entries[0].name == "a__b,c");
    CHECK(read.entries[0].iteration == 3);
    CHECK(dump::text_of(read.entries[0].value) == "((T1s1x3,),dict(_main:T1s1x3,input:T1s1x3))");
  }

  TEST_CASE("a file truncated anywhere is refused") {
    const std::string whole = dump::write_dump(everything(), "all.data").model;
    for (std::size_t size = 0; size + 1 < whole.size(); size += 97)
      CHECK(refusal(whole.substr(0, size)).starts_with("dump.onnx: "));
  }

  TEST_CASE("wrong names and sizes are refused") {
    dump::Dump one;
    one.entries.push_back(
        {"m", 0, Side::output,
         dump::container_value(
             Kind::tuple, {dump::tensor_value(some(DType::float32)), dump::integer_value(1)})});
    const std::string whole = dump::write_dump(one, "one.data").model;
    CHECK(refusal(whole).empty());
    const std::string sizes("\x08\x01\x08\x03", 4),
        longer("\x08\x01\x08\x04", 4);  // dims, packed no.
    CHECK(refusal(replaced(whole, sizes, longer)).find("wanted 16") != std::string::npos);
    std::string far = whole;
    for (auto at = far.find("tuple_1."); at != far.npos; at = far.find("tuple_1."))
      far.replace(at, 8, "tuple_0.");
    CHECK(refusal(far).find("position '0' where 1 is next") != std::string::npos);
    std::string kind = whole;
    for (auto at = kind.find("tensor"); at != kind.npos; at = kind.find("tensor"))
      kind.replace(at, 6, "doctor");
    CHECK(refusal(kind).find("does not hold what 'doctor' says") != std::string::npos);
  }

  TEST_CASE("external data must be in the dump's folder, with the right length") {
    const auto folder = std::filesystem::temp_directory_path() / "symprof_dump_test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const std::string model = bytes_of_file(truth("plot_dump.onnx"));
    const std::string data = bytes_of_file(truth("plot_dump.onnx.data"));
    const auto reads = [&](const std::string& bytes, const std::string& outside) {
      std::ofstream(folder / "plot_dump.onnx.data", std::ios::binary) << outside;
      try {
        return dump::text_of(
            dump::parse_dump(bytes, (folder / "d.onnx").string()).entries.back().value);
      } catch (const Error& error) {
        return error.problem();
      }
    };
    CHECK(reads(model, data) == "T1s2x30x16");
    CHECK(reads(model, data.substr(0, 20000)).find("ends before the data") == 0);
    const std::string elsewhere = replaced(model, "plot_dump.onnx.data", "../dump.onnx.data.x");
    CHECK(reads(elsewhere, data).find("is said to lie in '../dump.onnx.data.x'") !=
          std::string::npos);
    std::filesystem::remove_all(folder);
    CHECK_THROWS_AS(dump::parse_dump(model, (folder / "d.onnx").string()), Error);
  }
}

}  // namespace symprof::dump_test
