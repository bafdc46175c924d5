#include "plan/formulas/alignment.h"

namespace symprof::plan {
namespace {

std::vector<std::int64_t> prime_factors(std::int64_t number) {
  std::vector<std::int64_t> primes;
  for (std::int64_t factor = 2; factor <= number / factor; ++factor) {
    if (number % factor == 0) primes.push_back(factor);
    while (number % factor == 0) number /= factor;
  }
  if (number > 1) primes.push_back(number);
  return primes;
}

class Aligner {
 public:
  Aligner(const std::vector<SizeLine>& lines, SizeSamples& samples)
      : lines_(lines), samples_(samples) {
    for (const SizeLine& line : lines_) steps_.push_back(line.step);
  }

  /// Relaxes one variable after the other, given the multiples of those before: if batch * seq must
  /// be round, batch becomes free and seq stays constrained.
  void run(std::size_t figure, Formula& formula) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto holds_at = [&](std::int64_t multiple) {
        Sizes multiples = formula.multiples;
        multiples[i] = multiple;
        return holds(figure, *formula.polynomial, multiples);
      };
      formula.multiples[i] = least_divisor(steps_[i], holds_at);
    }
  }

 private:
  /// The smallest divisor of `step` at which `holds_at` is true, dividing by one prime factor at a
  /// time.
  static std::int64_t least_divisor(std::int64_t step, const auto& holds_at) {
    if (step == 1 || holds_at(1)) return 1;
    std::int64_t divisor = step;
    for (const std::int64_t prime : prime_factors(step))
      while (divisor % prime == 0 && holds_at(divisor / prime)) divisor /= prime;
    return divisor;
  }

  /// True if the polynomial matches the measurements at the first sizes of the lines, moved by
  /// `multiples`: these sizes share no larger divisor with the steps.
  bool holds(std::size_t figure, const Polynomial& polynomial, const Sizes& multiples) {
    Sizes point;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      point.push_back(lines_[i].sizes.front() + (multiples[i] == steps_[i] ? 0 : multiples[i]));
    const std::vector<std::int64_t>* measured = samples_.at(point);
    return measured && polynomial.at(point) == Rational((*measured)[figure]);
  }

  const std::vector<SizeLine>& lines_;
  SizeSamples& samples_;
  Sizes steps_;
};

}  // namespace

void align(std::vector<Formula>& formulas, const std::vector<SizeLine>& lines,
           SizeSamples& samples) {
  Aligner aligner(lines, samples);
  for (std::size_t figure = 0; figure < formulas.size(); ++figure)
    if (formulas[figure].polynomial) aligner.run(figure, formulas[figure]);
}

bool agrees(const Formula& formula, std::size_t figure, const SizeSamples& samples) {
  bool result = true;
  samples.for_each([&](const Sizes& sizes, const std::vector<std::int64_t>& figures) {
    if (result && holds_at(formula, sizes))
      result = formula.polynomial->at(sizes) == Rational(figures[figure]);
  });
  return result;
}

}  // namespace symprof::plan
