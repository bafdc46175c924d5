// `symprof` for tests that run below the server (server.cpp): hands its words, folder, environment
// and open files to it, and ends as the command there ends. Without a server, it is replaced by the
// program that stands beside it.
#include <unistd.h>

#include <sys/wait.h>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/serve/request.h"

extern char** environ;

namespace symprof::serve {
namespace {

[[noreturn]] void run_program(char** words) {
  std::array<char, 4096> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) < 0) std::exit(127);
  const std::string path(self.data());
  const std::string program = path.substr(0, path.rfind('/')) + "/symprof";
  execv(program.c_str(), words);
  std::perror(program.c_str());
  std::exit(127);
}

/// The folder, the number of words, the words, the environment.
std::string request(int count, char** words) {
  std::array<char, 4096> folder{};
  if (!getcwd(folder.data(), folder.size())) return {};
  std::string text;
  const auto add = [&](const char* word) { text.append(word).push_back('\0'); };
  add(folder.data());
  add(std::to_string(count).c_str());
  for (int i = 0; i < count; ++i) add(words[i]);
  for (char** variable = environ; *variable; ++variable) add(*variable);
  return text;
}

bool send(int server, std::string text) {
  Message message(text.data(), text.size());
  cmsghdr* files = CMSG_FIRSTHDR(&message.header);
  files->cmsg_level = SOL_SOCKET;
  files->cmsg_type = SCM_RIGHTS;
  files->cmsg_len = CMSG_LEN(3 * sizeof(int));
  const std::array<int, 3> numbers{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  std::memcpy(CMSG_DATA(files), numbers.data(), sizeof numbers);
  return sendmsg(server, &message.header, MSG_NOSIGNAL) >= 0;
}

/// As the command ended: its code, or by the signal that it ended by.
[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  std::signal(WTERMSIG(status), SIG_DFL);
  std::raise(WTERMSIG(status));
  std::_Exit(128 + WTERMSIG(status));
}

}  // namespace
}  // namespace symprof::serve

int main(int count, char** words) {
  using namespace symprof::serve;
  const char* name = std::getenv(socket_variable);
  const std::string text = name ? request(count, words) : std::string();
  if (text.empty() || text.size() > most_bytes) run_program(words);
  const Address address(name);
  const int server = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(server, address.get(), address.bytes) != 0 || !send(server, text)) run_program(words);
  int status = 0;
  if (recv(server, &status, sizeof status, 0) != sizeof status) {
    std::fputs("the tests' server ended before the command did\n", stderr);
    return 127;
  }
  end_like(status);
}
