#include "snapshot/pickle/opcodes.h"

#include <utility>

namespace symprof::snapshot::pickle {
namespace {

/// Opcodes that the reader refuses, as plain data does not need them. Some create objects, call
/// functions or refer to other files, which is unsafe; others belong to protocols 0 and 1, which
/// PyTorch's snapshots do not use.
constexpr std::pair<std::uint8_t, std::string_view> others[] = {{'F', "FLOAT"},
                                                                {'I', "INT"},
                                                                {'L', "LONG"},
                                                                {'P', "PERSID"},
                                                                {'Q', "BINPERSID"},
                                                                {'R', "REDUCE"},
                                                                {'S', "STRING"},
                                                                {'T', "BINSTRING"},
                                                                {'U', "SHORT_BINSTRING"},
                                                                {'V', "UNICODE"},
                                                                {'b', "BUILD"},
                                                                {'c', "GLOBAL"},
                                                                {'g', "GET"},
                                                                {'i', "INST"},
                                                                {'o', "OBJ"},
                                                                {'p', "PUT"},
                                                                {'B', "BINBYTES"},
                                                                {'C', "SHORT_BINBYTES"},
                                                                {0x81, "NEWOBJ"},
                                                                {0x82, "EXT1"},
                                                                {0x83, "EXT2"},
                                                                {0x84, "EXT4"},
                                                                {0x8e, "BINBYTES8"},
                                                                {0x8f, "EMPTY_SET"},
                                                                {0x90, "ADDITEMS"},
                                                                {0x91, "FROZENSET"},
                                                                {0x92, "NEWOBJ_EX"},
                                                                {0x93, "STACK_GLOBAL"},
                                                                {0x96, "BYTEARRAY8"},
                                                                {0x97, "NEXT_BUFFER"},
                                                                {0x98, "READONLY_BUFFER"}};

}  // namespace

std::string_view name_of_other(std::uint8_t opcode) {
  for (const auto& [byte, name] : others)
    if (byte == opcode) return name;
  return {};
}

}  // namespace symprof::snapshot::pickle
