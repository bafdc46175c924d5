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

/// A tensor, a number or text of a dump.
struct NamedLeaf {
  std::string name;  ///< "model.decoder-0-I-0.mask": fit for a file, and no other has it.
  std::string path;  ///< In its entry: "0.mask"; empty for an entry that is a leaf itself.
  const trace::dump::Value* value = nullptr;
};

/// The leaves that hold something, of entries whose name `glob` matches (*, ? and [..]). Points
/// into `dump`.
std::vector<NamedLeaf> leaves_of(const trace::dump::Dump& dump, const std::string& glob);

/// An array as numpy.save writes it. bfloat16 and eight-bit floats are fields of bytes ("V2"), as
/// numpy writes those of the package ml_dtypes; numbers of four bits and less have a byte each.
/// Throws Error for a tensor without data.
std::string npy_bytes(const trace::dump::Value& value);
/// An archive as numpy.savez writes it.
std::string npz_bytes(std::span<const NamedLeaf> leaves);
/// A safetensors file; texts are in its metadata. Throws Error for a dtype that the format lacks.
std::string safetensors_bytes(std::span<const NamedLeaf> leaves);
/// The numbers alone, little endian, row by row, those of less than a byte packed as in the dump;
/// texts end in a zero byte each.
std::string raw_bytes(const trace::dump::Value& value);

}  // namespace symprof::report
