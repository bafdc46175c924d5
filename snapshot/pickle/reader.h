// Reads a pickle of plain data: protocols 2 to 5, of the opcodes that make no object of any class.
#pragma once

#include "snapshot/pickle/byte_source.h"
#include "snapshot/pickle/document.h"

namespace symprof::snapshot::pickle {

/// Nothing is executed: an opcode that names a class or calls something is refused by its name.
/// Throws Error that says at which byte. The work and the memory are in proportion to the bytes of
/// the file, whatever they say.
void read(ByteSource& source, Document& document, Folder& folder);

}  // namespace symprof::snapshot::pickle
