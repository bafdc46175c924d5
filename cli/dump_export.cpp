#include "cli/dump_export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>

#include "base/error.h"
#include "session/read_text.h"

namespace symprof::cli {
namespace {

namespace fs = std::filesystem;

enum class Form : std::uint8_t { npy, npz, raw, safetensors };
constexpr settings::Named<Form> forms[] = {
    {"npy", Form::npy}, {"npz", Form::npz}, {"raw", Form::raw}, {"safetensors", Form::safetensors}};

std::string bytes_of(const report::NamedLeaf& leaf, Form form) try {
  return form == Form::npy ? report::npy_bytes(*leaf.value) : report::raw_bytes(*leaf.value);
} catch (const Error& error) {
  throw error.at(leaf.name);
}

/// A folder that is renamed to the wanted name once complete.
class NewFolder {
 public:
  explicit NewFolder(const std::string& wanted) : wanted_(wanted), temporary_(wanted + ".XXXXXX") {
    std::error_code error;
    if (fs::exists(wanted, error))
      throw Error("-o", wanted + " is there already.", "Name a folder that is not there.");
    if (mkdtemp(temporary_.data()) == nullptr)
      throw Error(wanted, "cannot be made.", "Give another folder with -o.");
  }
  ~NewFolder() {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  }
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  std::string file(const std::string& name) const { return (fs::path(temporary_) / name).string(); }

  void keep() {
    std::error_code error;
    fs::permissions(temporary_, fs::perms(0755), error);
    fs::rename(temporary_, wanted_, error);
    if (error) throw Error(wanted_, "cannot be made: " + error.message(), "Give another with -o.");
    temporary_.clear();
  }

 private:
  std::string wanted_, temporary_;
};

}  // namespace

void export_leaves(const std::vector<report::NamedLeaf>& leaves, const std::string& as,
                   const OutputOptions& output) {
  const Form form = settings::choose(SettingRef{"as"}, as, forms);
  if (output.file.empty())
    throw Error("-o", "tensors are no text for a terminal.", "Name where they go with -o.");
  if (leaves.empty())
    throw Error("--entry", "no tensor is left to export.", "symprof restore lists the entries.");
  if (form == Form::npz) return write_output(output, report::npz_bytes(leaves), Readers::programs);
  if (form == Form::safetensors)
    return write_output(output, report::safetensors_bytes(leaves), Readers::programs);
  NewFolder folder(output.file);
  for (const report::NamedLeaf& leaf : leaves)
    write_output({.file = folder.file(leaf.name + (form == Form::npy ? ".npy" : ".bin"))},
                 bytes_of(leaf, form), Readers::programs);
  folder.keep();
}

}  // namespace symprof::cli
