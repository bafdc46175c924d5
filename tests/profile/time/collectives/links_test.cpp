#include "profile/time/collectives/links.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tests/support/source_folder.h"

using namespace symprof;
using namespace symprof::profile;

namespace {

const std::string root = test::source_folder();

struct MeasuredRow {
  std::string device, source;
  CollectiveWork work;
  double us = 0;
};

std::vector<MeasuredRow> measured_rows() {
  std::ifstream file(root + "/truth/collectives/measured.csv");
  std::string line;
  std::getline(file, line);
  std::vector<MeasuredRow> rows;
  while (std::getline(file, line)) {
    std::stringstream stream(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    const CollectiveWork work{*collective_called(cells.at(2)), std::stoll(cells.at(5)),
                              std::stoi(cells.at(3)), std::stoi(cells.at(4))};
    rows.push_back({cells[0], cells[1], work, std::stod(cells.at(6))});
  }
  return rows;
}

/// True for rows in the calibration split of scripts/time/fit_collectives.py.
bool was_fitted(const MeasuredRow& row) {
  if (row.source == "vidur" || (row.source == "vtrain" && row.device != "v100")) return false;
  const double logarithm = std::log2(static_cast<double>(row.work.bytes));
  return logarithm == std::floor(logarithm) && std::fmod(logarithm, 2) == 0;
}

double median_error(const std::string& device, CollectiveKind kind) {
  const CollectiveModel model =
      collective_model_of(load_device(root + "/devices/" + device + ".json"));
  std::vector<double> errors;
  for (const MeasuredRow& row : measured_rows())
    if (row.device == device && row.work.kind == kind && row.work.bytes > (1 << 20) &&
        !was_fitted(row))
      errors.push_back(std::abs(model.time(row.work).us / row.us - 1));
  REQUIRE(errors.size() > 10);
  std::ranges::sort(errors);
  return errors[errors.size() / 2];
}

}  // namespace

TEST_SUITE("links") {
  TEST_CASE("held-out large collectives of one node: median error at most 8 %") {
    for (const char* device : {"a100-80g", "h100", "h200"})
      for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather}) {
        CAPTURE(device);
        CAPTURE(name(kind));
        CHECK(median_error(device, kind) <= 0.08);
      }
  }

  TEST_CASE("without NVLink: held-out large all-gathers of 2, 4 and 8 ranks") {
    CHECK(median_error("l40s", CollectiveKind::all_gather) <= 0.05);
  }

  TEST_CASE("a kind without a curve takes the all-gathers' factor, with a wider interval") {
    Links links{.channels = 2, .channel_gb = 12};
    links.measured[{CollectiveKind::all_gather, 1}][8] = {.points = {{20, 1.5}}, .half_width = 0.4};
    const CollectiveModel model(links, 8);
    const auto logarithm = [](double value, double by) { return std::log(value / by); };
    for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::all_reduce,
                                      CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      CAPTURE(name(kind));
      const CollectiveWork work{kind, 1 << 20, 8, 1};
      const CollectiveTime time = model.time(work);
      const bool own = kind == CollectiveKind::all_gather;
      CHECK(logarithm(time.us, nccl_choice(work, model.topology(work)).us) == doctest::Approx(1.5));
      CHECK((time.basis == TimeBasis::calibrated) == own);
      CHECK((logarithm(time.high_us, time.us) > 0.41) == !own);
    }
    const CollectiveWork send{CollectiveKind::send_receive, 1 << 20, 8, 1};
    CHECK(model.time(send).us == doctest::Approx(nccl_choice(send, model.topology(send)).us));
  }

  TEST_CASE("curves of other machines are no calibration, and the interval holds both machines") {
    const CollectiveModel unmeasured = collective_model_of(load_device(root + "/devices/l4.json"));
    for (const int ranks : {2, 4, 8}) {
      CAPTURE(ranks);
      const CollectiveWork work{CollectiveKind::all_gather, 1 << 26, ranks, 1};
      const CollectiveTime time = unmeasured.time(work);
      CHECK(time.basis == TimeBasis::data_sheet);
      const double formula = nccl_choice(work, unmeasured.topology(work)).us;
      for (const char* device : {"l40s", "rtx-pro-6000"}) {
        CAPTURE(device);
        const CollectiveModel known =
            collective_model_of(load_device(root + "/devices/" + device + ".json"));
        const double factor = known.time(work).us / nccl_choice(work, known.topology(work)).us;
        CHECK(time.low_us <= factor * formula);
        CHECK(time.high_us >= factor * formula);
      }
    }
  }

  TEST_CASE("between measured sizes and groups a curve is a straight line") {
    Links links{.nvlink_generation = 4, .channels = 8, .channel_gb = 48};
    auto& curves = links.measured[{CollectiveKind::all_reduce, 1}];
    curves[2].points = {{20, 0.0}, {22, 0.4}};
    curves[8].points = {{20, 0.2}, {22, 0.6}};
    const CollectiveModel model(links, 9);
    const auto factor = [&](std::int64_t bytes, int ranks) {
      const CollectiveWork work{CollectiveKind::all_reduce, bytes, ranks, 1};
      return std::log(model.time(work).us / nccl_choice(work, model.topology(work)).us);
    };
    CHECK(factor(1 << 21, 2) == doctest::Approx(0.2));
    CHECK(factor(1 << 20, 4) == doctest::Approx(0.1));
    CHECK(factor(1 << 24, 64) == doctest::Approx(0.6));
    CHECK(factor(1 << 10, 2) == doctest::Approx(0.0));
  }

  TEST_CASE("the network is shared by the ranks of a node, and must be known") {
    Links links{.nvlink_generation = 4, .channels = 8, .channel_gb = 48};
    const CollectiveWork work{CollectiveKind::all_gather, 1 << 20, 16, 2};
    CHECK_THROWS_AS(CollectiveModel(links, 9).time(work), Error);
    links.network_bytes_per_second = 20e9;
    CHECK(CollectiveModel(links, 9).topology(work).inter == doctest::Approx(20.0 * 8 / 8));
    const CollectiveWork one_of_each{CollectiveKind::all_gather, 1 << 20, 2, 2};
    CHECK(CollectiveModel(links, 9).topology(one_of_each).inter == doctest::Approx(20.0 / 8));
  }

  TEST_CASE("every shipped GPU has links; a damaged file is an error that names the key") {
    for (const DeviceSpec& device : shipped_devices(root + "/devices")) {
      CAPTURE(device.name);
      if (device.is_cpu) {
        CHECK_THROWS_AS(collective_model_of(device), Error);
        continue;
      }
      const Links links = collective_model_of(device).links();
      CHECK(links.channel_gb > 0);
      if (links.nvlink_generation > 0) CHECK(device.nvlink_bytes_per_second.has_value());
    }
    const std::string path =
        (std::filesystem::temp_directory_path() / "symprof_links.json").string();
    for (const char* text :
         {"{}", "[]", "{\"channels\": 0}", "{\"channel_gb_per_second\": -1}", "x",
          "{\"channel_gb_per_second\": 1, \"measured\": [{\"kind\": \"x\"}]}"}) {
      std::ofstream(path) << text;
      CHECK_THROWS_AS(load_links(path), Error);
    }
    std::filesystem::remove(path);
    CHECK_THROWS_AS(load_links(path), Error);
  }
}
