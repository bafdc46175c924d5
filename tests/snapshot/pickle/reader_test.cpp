// Pickles of plain data, and everything that is refused.
#include "snapshot/pickle/reader.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "snapshot/pickle/writer.h"

namespace symprof::snapshot::pickle {
namespace {

/// Keeps everything as values.
struct NoFolder : Folder {
  bool fold_entries(const Document&, Container&, std::span<const Value>) override { return false; }
  bool fold_items(const Document&, Container&, std::span<const Value>) override { return false; }
};

Document parse(std::string_view bytes) {
  ByteSource source(bytes, "test");
  Document document;
  NoFolder folder;
  read(source, document, folder);
  return document;
}

std::string refusal(std::string_view bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    return error.summary();
  }
  return "";
}

using namespace std::string_literals;

}  // namespace

TEST_SUITE("snapshot_pickles") {
  TEST_CASE("what the writer writes comes back") {
    fmt::memory_buffer out;
    Writer writer(out);
    writer.begin_dictionary();
    writer.text("list");
    writer.begin_list();
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
      writer.integer(number);
      writer.next_element();
    }
    writer.end_list();
    writer.text("pair");
    writer.pair(3, -4);
    writer.end_dictionary();
    writer.finish();
    const Document document = parse({out.data(), out.size()});
    const Value* list = document.find(document.root, "list");
    REQUIRE(list);
    const auto items = document.items(*list);
    REQUIRE(items.size() == 3);
    CHECK(items[0].integer == 0);
    CHECK(items[1].integer == -1);
    CHECK(items[2].integer == std::int64_t{1} << 40);
    const Value* pair = document.find(document.root, "pair");
    REQUIRE(pair);
    CHECK(pair->kind == Kind::tuple);
    CHECK(document.items(*pair)[1].integer == -4);
  }

  TEST_CASE("integers of any length") {
    // LONG1 of 0 bytes, of 1 byte below 0, of 9 bytes.
    const Document document =
        parse("\x80\x04](\x8a\x00\x8a\x01\xff\x8a\x09"s + std::string(9, '\1') + "e."s);
    const auto items = document.items(document.root);
    REQUIRE(items.size() == 3);
    CHECK(items[0].integer == 0);
    CHECK(items[1].integer == -1);
    CHECK(items[2].kind == Kind::large_integer);
  }

  TEST_CASE("what makes objects is refused by its name") {
    CHECK(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93."s) ==
          "test: byte 15: opcode STACK_GLOBAL; a memory snapshot has plain data only, so nothing "
          "else is read");
    CHECK(refusal("\x80\x02"
                  "cos\nsystem\n."s)
              .find("opcode GLOBAL;") != std::string::npos);
    CHECK(refusal("\x80\x02)R."s).find("opcode REDUCE;") != std::string::npos);
    CHECK(refusal("\x80\x02\xff."s).find("0xff is no opcode") != std::string::npos);
    CHECK(refusal("{}") == "test: byte 1: no pickle begins here; a memory snapshot is one");
  }

  TEST_CASE("broken files say where") {
    CHECK(refusal("") == "test: byte 0: the file ends in the middle of a value");
    CHECK(refusal("\x80\x04X\xff\xff\xff\xff"s) ==
          "test: byte 7: a text of 4294967295 bytes, which no snapshot has");
    CHECK(refusal("\x80\x04X\xff\x00\x00\x00"s) ==
          "test: byte 7: the file ends in the middle of a value");
    CHECK(refusal("\x80\x04h\x05."s).find("value 5 is asked for") != std::string::npos);
    CHECK(refusal("\x80\x04(K\x01."s).find("lacks") == std::string::npos);
    CHECK(refusal("\x80\x04"
                  "e."s)
              .find("lacks the mark") != std::string::npos);
    CHECK(refusal("\x80\x04}(K\x01u."s).find("a key has no value") != std::string::npos);
    CHECK(refusal("\x80\x04K\x01K\x02.") != "");
    CHECK(refusal("\x80\x06."s).find("protocol 6") != std::string::npos);
  }

  TEST_CASE("slots that are far away cost nothing, and lists have an end") {
    const Document document = parse("\x80\x02K\x07r\xff\xff\xff\xffj\xff\xff\xff\xff\x86."s);
    CHECK(document.items(document.root)[1].integer == 7);
    CHECK(refusal("\x80\x02"s + std::string(2'000'000, ']')).find("more lists") !=
          std::string::npos);
  }
}

}  // namespace symprof::snapshot::pickle
