#include "meta/fake/current_mode.h"

namespace symprof::meta {
namespace {

ModeInfo* current_info() {
  return dynamic_cast<ModeInfo*>(c10::ThreadLocalDebugInfo::get(mode_slot()));
}

}  // namespace

std::shared_ptr<Observer> current_observer() {
  const ModeInfo* info = current_info();
  return info == nullptr ? nullptr : info->observer;
}

bool is_in_program() {
  const ModeInfo* info = current_info();
  return info != nullptr && info->factories == Factories::on_host;
}

const AttentionPolicy* current_attention_policy() {
  const ModeInfo* info = current_info();
  return info == nullptr ? nullptr : &info->attention;
}

}  // namespace symprof::meta
