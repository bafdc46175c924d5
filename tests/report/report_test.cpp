// Reports of a synthetic profile, compared with golden pages, and the parts of reports.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "report/profile/csv.h"
#include "report/profile/devices.h"
#include "report/profile/json.h"
#include "report/profile/markdown.h"
#include "report/profile/memory_text.h"
#include "report/profile/ops.h"
#include "report/profile/peak_owners.h"
#include "report/profile/table.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"
#include "report/write/text_table.h"
#include "tests/support/golden.h"
#include "tests/support/named_column.h"
#include "tests/support/small_profile.h"

namespace symprof::report {
namespace {

using test::column;
using test::small_options;
using test::small_profile;

std::vector<Column> small_columns() { return default_columns(small_options().optimizer); }

std::string table(const RowOptions& rows, const Layout& layout,
                  const std::vector<Column>& columns = small_columns()) {
  fmt::memory_buffer out;
  write_table(out, small_profile(), small_options(), rows, columns, layout);
  return fmt::to_string(out);
}

std::string csv(const RowOptions& rows, const std::vector<Column>& columns = small_columns()) {
  fmt::memory_buffer out;
  write_csv(out, small_profile(), rows, columns);
  return fmt::to_string(out);
}

std::string json(const Profile& profile) {
  fmt::memory_buffer out;
  write_json(out, profile, {.step = small_options()});
  return fmt::to_string(out);
}

void check_page(const std::string& name, const std::string& form, const std::string& text) {
  test::check_golden(name, "small_profile (tests/support/small_profile.cpp), " + form, text);
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    widest = std::max(widest, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

TEST_SUITE("report") {
  TEST_CASE("the column of saved bytes has two names") {
    CHECK(find_column("saved") == find_column("incremental"));
    CHECK_FALSE(find_column("kept"));
  }

  TEST_CASE("bytes are binary, counts decimal, and a rounded number stays below its unit") {
    constexpr std::int64_t mib = 1024 * 1024;
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_bytes(1023) == "1023 B");
    CHECK(format_bytes(1024) == "1.00 KiB");
    CHECK(format_bytes(mib - 1) == "1.00 MiB");
    CHECK(format_bytes(8 * 3 * 224 * 224 * 4) == "4.59 MiB");
    CHECK(format_bytes(INT64_MAX) == "8.00 EiB");
    CHECK(format_count(924844032, "MACs") == "924.84 MMACs");
    CHECK(format_count(999, "FLOPs") == "999 FLOPs");
    CHECK(format_count(999999, "FLOPs") == "1.00 MFLOPs");
    CHECK(group_digits(86567656) == "86,567,656");
    CHECK(group_digits(-1234) == "-1,234");
    CHECK(group_digits(123) == "123");
  }

  TEST_CASE("three digits for narrow terminals") {
    constexpr std::int64_t mib = 1024 * 1024;
    const auto text = [](std::int64_t bytes) {
      const Quantity quantity = scale_bytes(bytes, Precision::significant);
      return quantity.number + " " + quantity.unit;
    };
    CHECK(text(4816896) == "4.59 MiB");
    CHECK(text(37 * mib + mib / 3) == "37.3 MiB");
    CHECK(text(978 * mib) == "978 MiB");
    CHECK(text(1000 * mib) == "0.98 GiB");
    CHECK(text(999) == "999 B");
    CHECK(text(1001) == "0.98 KiB");
  }

  TEST_CASE("names are shortened: paths from the left, then in the middle, by code points") {
    CHECK(shorten("encoder.layers.0.mlp", 20) == "encoder.layers.0.mlp");
    CHECK(shorten("encoder.layers.0.mlp", 14) == "e.layers.0.mlp");
    CHECK(shorten("encoder.layers.0.mlp", 10) == "e.l.0.mlp");
    CHECK(shorten("encoder.layers.10.mlp/linear", 16) == "e.l.10.m/linear");
    CHECK(shorten("encoder.encoder_layer_11.mlp", 9) == "e.e11.mlp");
    CHECK(shorten("/encoder/layers.0/MatMul", 13) == "/e/l.0/MatMul");
    CHECK(shorten("encoder_layers_0", 10) == "enc…yers_0");
    CHECK(shorten("ääää", 3) == "…ää");
    CHECK(shorten("abc", 2) == "ab");
    CHECK(shorten("...", 1) == ".");
    CHECK(display_width("ä…b") == 3);
  }

  TEST_CASE("East Asian letters and emoji take two columns, combining accents none") {
    CHECK(display_width("编码器") == 6);
    CHECK(display_width("🚀x") == 3);
    CHECK(display_width("e\u0301a") == 2);
    CHECK(display_width("\xff\xfe") == 2);
    CHECK(shorten("编码器层编码器层", 9) == "编…码器层");
    CHECK(shorten("编码器.层1", 6) == "编.层1");
    CHECK(shorten("e\u0301e\u0301e\u0301e\u0301", 3) == "…e\u0301e\u0301");
    CHECK(shorten("e\u0301tage0.mlp", 7) == "e\u03010.mlp");
    TextTable text;
    text.columns = {{"Node"}, {"Size", Align::number}};
    for (const char* node : {"encoder", "编码器", "🚀lift", "e\u0301tage"})
      text.rows.push_back({{{node}, {"1", "B"}}});
    fmt::memory_buffer out;
    write(out, text, {});
    CHECK(fmt::to_string(out) ==
          "Node     Size\n───────  ────\nencoder   1 B\n编码器    1 B\n🚀lift    1 B\n"
          "e\u0301tage     1 B\n");
  }

  TEST_CASE("table") {
    check_page("table_nodes", "a table", table({}, {}));
    check_page("table_macs", "a table in MACs", table({.unit = Unit::macs}, {}));
    check_page("table_top", "the two rows that save most",
               table({.sort = column("incremental"), .top = 2}, {}));
    check_page("table_modules", "a row for each module of two levels",
               table({.by = By::module, .depth = 2}, {}));
    check_page("table_leaf_modules", "a row for each module", table({.by = By::module}, {}));
    check_page("table_ops", "a row for each operator, most FLOPs first",
               table({.by = By::op, .sort = column("fwd_flops")}, {}));
    check_page("table_100", "a table on 100 columns", table({}, {.width = 100}));
    check_page("table_color", "a table in color on 160 columns",
               table({}, {.color = Color::on, .width = 160}));
    check_page(
        "table_columns", "a table of four chosen columns",
        table({}, {}, {column("op"), column("module"), column("calls"), column("confidence")}));
  }

  TEST_CASE("owners of the peak") {
    const Profile profile = small_profile();
    fmt::memory_buffer out;
    write_peak_table(out, profile.memory, profile.recording, {}, {});
    write_peak_table(out, profile.memory, profile.recording, {.depth = 1, .top = 1}, {.width = 60});
    check_page("peak", "who holds its peak, whole and cut", fmt::to_string(out));
  }

  TEST_CASE("a table fits the terminal's width") {
    fmt::memory_buffer out;
    TextTable text;
    text.columns = {{"Op", Align::left, 16}, {"Output size", Align::number}};
    text.rows = {{{{std::string(200, 'x')}, {"4.59", "MiB"}}}};
    write(out, text, {.width = 40});
    CHECK(widest_line(fmt::to_string(out)) == 40);
  }

  TEST_CASE("CSV: integers, and empty fields for unknown values") {
    check_page("profile_csv", "as CSV", csv({}));
    CHECK(csv({.unit = Unit::macs}, {column("op"), column("fwd_flops")})
              .starts_with("op,fwd_macs\r\n"));
  }

  TEST_CASE("Markdown: names are escaped code, totals have no markup") {
    fmt::memory_buffer out;
    Profile profile = small_profile();
    profile.recording.nodes[1].name = "a|b`c";
    profile.warnings = {"See *this* <one>."};
    write_markdown(out, profile, small_options(), {}, small_columns());
    const std::string text = fmt::to_string(out);
    check_page("markdown", "as Markdown, with a name that is odd there", text);
    CHECK(text.find("| `` stem/a\\|b`c `` |") != text.npos);
    CHECK(text.find("- **warning**: See \\*this\\* \\<one>.") != text.npos);
  }

  TEST_CASE("JSON") {
    const std::string text = json(small_profile());
    check_page("profile_json", "as JSON", text);
    const nlohmann::json parsed = nlohmann::json::parse(text);
    CHECK(parsed["schema"] == "symprof.profile/1");
    CHECK(parsed["totals"]["fwd_macs"] == parsed["totals"]["fwd_flops"].get<std::int64_t>() / 2);
    CHECK(parsed["totals"]["fwd_time_us"].is_null());
    CHECK(parsed["totals"]["peak_at"]["node"] == "linear_1");
    CHECK(parsed["measured"].is_null());
    const nlohmann::json& odd = parsed["nodes"][4];
    CHECK(odd["fwd_flops_all"].is_null());
    CHECK(odd["calls"][0]["flops"].is_null());
    CHECK(odd["calls"][1]["flops"] == 1500);
  }

  TEST_CASE("JSON of an empty profile") {
    const nlohmann::json parsed = nlohmann::json::parse(json(Profile{}));
    CHECK(parsed["nodes"].empty());
    CHECK(parsed["totals"]["peak_at"]["node"].is_null());
  }

  TEST_CASE("JSON strings: escapes, and bytes that are not UTF-8") {
    fmt::memory_buffer out;
    JsonWriter writer(out);
    writer.begin_array();
    writer.value(std::string_view("a\"b\\c\nd"));
    writer.value(std::string_view("\xff"));
    writer.value(1.0 / 0.0);
    writer.end_array();
    const nlohmann::json parsed = nlohmann::json::parse(fmt::to_string(out));
    CHECK(parsed[0] == "a\"b\\c\nd");
    CHECK(parsed[1] == "\uFFFD");
    CHECK(parsed[2].is_null());
  }

  TEST_CASE("rows sum to the totals with any folding") {
    const Profile profile = small_profile();
    for (const RowOptions& options :
         {RowOptions{}, RowOptions{.sort = column("fwd_flops"), .top = 1}, RowOptions{.by = By::op},
          RowOptions{.by = By::module}, RowOptions{.by = By::module, .depth = 1, .top = 2}}) {
      std::int64_t forward = 0, saved = 0, optimizer = 0;
      for (const Row& row : rows(profile, options)) {
        forward += *figure(row, column("fwd_flops"), Unit::flops);
        saved += *figure(row, column("incremental"), Unit::flops);
        optimizer += *figure(row, column("optimizer_flops"), Unit::flops);
      }
      CHECK(forward == profile.totals.fwd_flops_all);
      CHECK(saved == profile.totals.saved_bytes_with_inputs);
      CHECK(optimizer == profile.totals.optimizer_flops);
    }
  }

  TEST_CASE("values that may live longer are noted beside a lower bound, and beside an estimate") {
    StepMemory memory;
    memory.uncertainty = {
        .bytes = 2048, .most_bytes = 4096, .because = LifetimeUncertainty::function};
    memory.peak_call = none;
    const std::string held =
        ": functions whose source lines the file lacks may hold values longer, "
        "up to 2.00 KiB more; 4.00 KiB if they hold all until the end";
    using enum OtherCallsReason;
    for (const auto reason : {OtherCallsReason::none, onnx, masks, training}) {
      memory.other_calls.reason = reason;
      CHECK(uncertainty_note(memory).label == "lower bound");
      CHECK(uncertainty_note(memory).text == "the peak is a lower bound" + held);
      CHECK(peak_text(memory, {}).starts_with("at least "));
    }
    for (const auto reason : {saving, saving_masks, functions, names}) {
      memory.other_calls.reason = reason;
      CHECK(uncertainty_note(memory).label == "lifetimes");
      CHECK(uncertainty_note(memory).text == "the peak may be higher, too" + held);
      CHECK(peak_text(memory, {}).starts_with("about "));
    }
  }

  TEST_CASE("devices and operators") {
    DeviceSpec known = small_options().device;
    known.memory_bytes_per_second = 4.8e12;
    known.flops_per_second = {{"bfloat16", 989e12}};
    fmt::memory_buffer out;
    write_devices(out, {known, DeviceSpec{"bare"}}, {});
    out.push_back('\n');
    write_devices_json(out, {known, DeviceSpec{"bare"}});
    out.push_back('\n');
    const std::vector<profile::Operator> ops = {
        profile::find_operator("aten::mm"),
        profile::find_operator("aten::view"),
        {"acme::takes_memory_alone", "matmul", nullptr, profile::unknown_scratch}};
    write_ops(out, ops, {});
    out.push_back('\n');
    write_ops_json(out, ops);
    test::check_golden("lists", "two devices and two operators, each as a table and as JSON",
                       fmt::to_string(out));
  }
}

}  // namespace
}  // namespace symprof::report
