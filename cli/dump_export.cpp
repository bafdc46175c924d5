#include "cli/dump_export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"

namespace symprof::cli {
namespace {

namespace fs = std::filesystem;

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
  if (output.file.empty())
    throw Error("-o", "tensors are no text for a terminal.", "Name where they go with -o.");
  const std::vector<report::ExportedFile> files = report::exported(leaves, as);
  if (files.front().name.empty())
    return write_output(output, files.front().bytes, Readers::programs);
  NewFolder folder(output.file);
  for (const report::ExportedFile& file : files)
    write_output({.file = folder.file(file.name)}, file.bytes, Readers::programs);
  folder.keep();
}

}  // namespace symprof::cli
