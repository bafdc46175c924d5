#include "session/measure/apart.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/whole_file.h"

namespace symprof {
namespace {

constexpr auto place = "the process that measures";

[[noreturn]] void fail(const std::string& what) {
  throw Error(place, what + ".", "Try again; `dmesg` may say more.");
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 65536> part{};
  while (true) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Apart run_apart(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) fail(fmt::format("has no pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail(fmt::format("cannot be made: {}", std::strerror(errno)));
  if (child == 0) {
    close(ends[0]);
    if (!write_all(ends[1], work())) fail(fmt::format("cannot write: {}", std::strerror(errno)));
    std::fflush(nullptr);
    std::_Exit(0);  // Destructors are the parent's.
  }
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    fail(
        fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0) return WEXITSTATUS(status);
  return text;
}

}  // namespace symprof
