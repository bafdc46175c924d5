// The options of one group of a command's help.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <utility>
#include <vector>

namespace symprof::cli {

class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string name) : app_(&app), name_(std::move(name)) {}

  /// `type` stands for the value in the help.
  template <class Target>
  CLI::Option* add(const char* option, Target& target, const char* type,
                   const std::string& help) const {
    return app_->add_option(option, target, help)->type_name(type)->group(name_);
  }
  /// May be given several times, each time with one value.
  void add_each(const char* option, std::vector<std::string>& target, const char* type,
                const std::string& help) const {
    add(option, target, type, help)->allow_extra_args(false);
  }
  void add_flag(const char* option, bool& target, const std::string& help) const {
    app_->add_flag(option, target, help)->group(name_);
  }

 private:
  CLI::App* app_;
  std::string name_;
};

}  // namespace symprof::cli
