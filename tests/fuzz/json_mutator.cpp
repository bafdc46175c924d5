#include "json_mutator.h"

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

// Changes bytes in place: libFuzzer's own (compiler-rt/lib/fuzzer/FuzzerInterface.h).
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace symprof::fuzz {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::int64_t, 12> edges = {0,
                                                1,
                                                -1,
                                                2,
                                                7,
                                                13,
                                                255,
                                                65536,
                                                std::int64_t{1} << 31,
                                                std::int64_t{1} << 62,
                                                std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min()};

class Mutator {
 public:
  Mutator(Json& root, std::mt19937& random) : root_(root), random_(random) {}

  void mutate_once() {
    places_.clear();
    collect(root_);
    Json& place = any_place();
    if (place.is_structured() && !place.empty() && chance(3)) return change_children(place);
    if (chance(4)) return void(place = Json(any_place()));
    if (place.is_string() && !chance(6)) return change_text(place);
    if (place.is_number() && !chance(6)) return void(place = edges[below(edges.size())]);
    if (place.is_boolean()) return void(place = !place.get<bool>());
    replace(place);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  Json& any_place() { return *places_[below(places_.size())]; }

  void collect(Json& place) {
    places_.push_back(&place);
    if (place.is_structured())
      for (Json& child : place) collect(child);
  }

  void change_children(Json& place) {
    const auto child = [&] {
      return std::next(place.begin(), static_cast<std::ptrdiff_t>(below(place.size())));
    };
    if (place.is_object()) {
      const std::string key = child().key();
      if (chance(2)) return void(place.erase(key));
      // A key of another object, with this value.
      Json& other = any_place();
      if (other.is_object() && !other.empty()) place[other.begin().key()] = Json(place[key]);
      return;
    }
    if (chance(3)) return void(place.erase(child()));
    if (chance(2)) return std::swap(*child(), *child());
    place.push_back(Json(*child()));
  }

  void change_text(Json& place) {
    Json& other = any_place();
    if (other.is_string() && chance(2)) return void(place = Json(other));
    std::string text = place.get<std::string>();
    const std::size_t size = text.size();
    text.resize(size + 16);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    place = text;
  }

  void replace(Json& place) {
    const Json old = place;
    const std::array<Json, 8> values = {Json(nullptr),  Json::array(), Json::object(),
                                        Json(0.5),      Json(""),      Json::array({old, old}),
                                        Json(edges[0]), Json(true)};
    place = values[below(values.size())];
  }

  Json& root_;
  std::mt19937& random_;
  std::vector<Json*> places_;
};

}  // namespace

std::string mutate_json(const std::string& text, std::mt19937& random) {
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return text;
  do Mutator(root, random).mutate_once();
  while (random() % 3 == 0);
  return root.dump(-1, ' ', false, Json::error_handler_t::ignore);
}

}  // namespace symprof::fuzz
