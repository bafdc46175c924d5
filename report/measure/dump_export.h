// Tensors of a dump in formats that other programs read.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/dump/dump.h"

namespace symprof::report {

/// A tensor, a number or a text of a dump.
struct NamedLeaf {
  std::string name;  ///< "model.decoder-0-I-0.mask": valid in a file name, and unique.
  std::string path;  ///< In its entry: "0.mask"; empty for an entry that is a leaf itself.
  const trace::dump::Value* value = nullptr;
};

/// The leaves with data, of entries whose name `glob` matches (*, ? and [..]). Points into `dump`.
std::vector<NamedLeaf> leaves_of(const trace::dump::Dump& dump, const std::string& glob);

/// An array in numpy.save's format. bfloat16 and eight-bit floats are byte fields ("V2"), as numpy
/// writes dtypes of the package ml_dtypes; numbers of four bits and less take a byte each. Throws
/// Error for a tensor without data.
std::string npy_bytes(const trace::dump::Value& value);
/// An archive in the format of numpy.savez.
std::string npz_bytes(std::span<const NamedLeaf> leaves);
/// A safetensors file; texts are in its metadata. Throws Error for a dtype that the format lacks.
std::string safetensors_bytes(std::span<const NamedLeaf> leaves);
/// Only the numbers, little endian, row by row, those below a byte packed as in the dump; texts end
/// in a zero byte each.
std::string raw_bytes(const trace::dump::Value& value);

/// Files by name and bytes; no name: the only one. The leaves in the form that `as` names: "npz"
/// and "safetensors" are one file, "npy" and "raw" one for each leaf. Throws Error about settings
/// "as" and "entry".
std::vector<std::pair<std::string, std::string>> exported(const std::vector<NamedLeaf>& leaves,
                                                          const std::string& as);

}  // namespace symprof::report
