#include "cli/option_spelling.h"

#include <algorithm>
#include <string_view>

namespace symprof::cli {
namespace {

struct Spelling {
  std::string_view setting, option;
};

constexpr Spelling spellings[] = {{"alloc_conf", "--alloc-conf"},
                                  {"attention", "--attention"},
                                  {"autocast", "--autocast"},
                                  {"checkpoint", "--checkpoint"},
                                  {"clip_grad_norm", "--clip-grad-norm"},
                                  {"columns", "--columns"},
                                  {"context", "--context"},
                                  {"device", "--device"},
                                  {"dtype", "--dtype"},
                                  {"freeze", "--freeze"},
                                  {"grad_scaler", "--grad-scaler"},
                                  {"inputs", "--input"},
                                  {"kv_cache", "--kv-cache"},
                                  {"lifetimes", "--lifetimes"},
                                  {"loss", "--loss"},
                                  {"master_weights", "--master-weights"},
                                  {"max", "--max"},
                                  {"micro_batches", "--micro-batches"},
                                  {"mode", "--mode"},
                                  {"offload_saved", "--offload-saved"},
                                  {"optimizer", "--optimizer"},
                                  {"sizes", "--set"},
                                  {"split_bias", "--split-bias"},
                                  {"symbolic", "--symbolic"},
                                  {"unbacked", "--unbacked"},
                                  {"unit", "--unit"}};

}  // namespace

std::string spell_as_option(const SettingRef& setting) {
  const auto* found = std::ranges::find(spellings, setting.name, &Spelling::setting);
  if (found == std::end(spellings)) return spell_plainly(setting);
  std::string text(found->option);
  return setting.value.empty() ? text : text + " " + setting.value;
}

}  // namespace symprof::cli
