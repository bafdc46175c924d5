#include "python/bindings/frames.h"

#include <Python.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

namespace symprof::python {
namespace {

std::vector<std::string>& library_folders() {
  static std::vector<std::string> folders;
  return folders;
}

/// The file's name without its folders; empty for library code.
std::string own_file(const std::string& file) {
  if (file.starts_with("<frozen")) return "";
  const auto is_inside = [&](const std::string& folder) { return file.starts_with(folder); };
  if (std::ranges::any_of(library_folders(), is_inside)) return "";
  return std::filesystem::path(file).filename().string();
}

// Cached by path, not by code object, which would have to be kept alive: code that torch.compile
// generates holds its whole graph.
const std::string& known_file(PyCodeObject* code) {
  static auto* files = new std::unordered_map<std::string, std::string>;
  const char* path = PyUnicode_AsUTF8(code->co_filename);
  if (path == nullptr) {
    PyErr_Clear();
    path = "<frozen";
  }
  const auto [found, is_new] = files->try_emplace(path);
  if (is_new) found->second = own_file(path);
  return found->second;
}

}  // namespace

void set_library_folders(std::vector<std::string> folders) {
  library_folders() = std::move(folders);
}

std::string place_of_program() {
  const PyGILState_STATE lock = PyGILState_Ensure();
  std::string place;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr && place.empty()) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string& file = known_file(code);
    Py_DECREF(code);
    if (!file.empty()) place = file + ":" + std::to_string(PyFrame_GetLineNumber(frame));
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  PyGILState_Release(lock);
  return place;
}

}  // namespace symprof::python
