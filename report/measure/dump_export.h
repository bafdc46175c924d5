// Tensors of a dump in formats that other programs read.
//
// Public header.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/dump/dump.h"

namespace symprof::report {

/// A tensor, a number or a text of a dump.
struct NamedLeaf {
  std::string name;  ///< "model.decoder-0-I-0.mask": fit for a file, and no other has it.
  std::string path;  ///< In its entry: "0.mask"; empty for an entry that is a leaf itself.
  const trace::dump::Value* value = nullptr;
};

/// The non-empty leaves of entries whose name matches `glob` (*, ? and [..]). They point into
/// `dump`.
std::vector<NamedLeaf> leaves_of(const trace::dump::Dump& dump, const std::string& glob);

/// An array in the format of numpy.save. bfloat16 and eight-bit floats are byte fields ("V2"), as
/// numpy writes those of the package ml_dtypes; elements of four bits and less take a byte each.
/// Throws Error for a tensor without data.
std::string npy_bytes(const trace::dump::Value& value);
/// An archive in the format of numpy.savez.
std::string npz_bytes(std::span<const NamedLeaf> leaves);
/// A safetensors file; texts are in its metadata. Throws Error for a dtype that the format lacks.
std::string safetensors_bytes(std::span<const NamedLeaf> leaves);
/// The numbers alone, little endian, in row-major order, those below a byte packed as in the dump;
/// texts are zero-terminated.
std::string raw_bytes(const trace::dump::Value& value);

}  // namespace symprof::report
