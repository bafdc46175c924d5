// Runs a command, and symprof's commands for it: symprof_server COMMAND…
// LibTorch takes a fifth of a second to start. Here it is loaded once, and each symprof
// (client.cpp) that the command starts is a fork of this process, which has it. A test that runs
// the program five hundred times takes a third of the time.
#include <dlfcn.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "cli/program.h"
#include "session/paths.h"
#include "tests/serve/request.h"

extern char** environ;

namespace symprof::serve {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(127);
}

/// A request as it came. Its words point into its text.
struct Request {
  std::string folder;
  std::vector<char*> words, environment;
  std::array<int, 3> files{-1, -1, -1};
};

class Server {
 public:
  explicit Server(char** command) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &signals_before_);
    ended_ = signalfd(-1, &children, SFD_CLOEXEC);
    const std::string name = "symprof-tests-" + std::to_string(getpid());
    const Address address(name);
    listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (bind(listener_, address.get(), address.bytes) == 0 && listen(listener_, 64) == 0)
      setenv(socket_variable, name.c_str(), 1);
    else
      listener_ = -1;  // Clients run the program itself.
    command_ = fork();
    if (command_ == 0) {
      begin_child();
      execvp(command[0], command);
      fail(command[0]);
    }
  }

  /// The status of the command.
  int serve() {
    while (true) {
      std::vector<pollfd> watched{{listener_, POLLIN, 0}, {ended_, POLLIN, 0}};
      for (const auto& [child, client] : clients_) watched.push_back({client, 0, 0});
      if (poll(watched.data(), watched.size(), -1) < 0) fail("symprof_server: poll");
      if (watched[1].revents)
        if (const int status = reap(); status >= 0) return status;
      stop_children_of_gone_clients(watched);
      if (watched[0].revents) accept_one();
    }
  }

 private:
  void begin_child() const {
    sigprocmask(SIG_SETMASK, &signals_before_, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }

  void accept_one() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    text_.resize(most_bytes);
    Message message(text_.data(), text_.size());
    const ssize_t size = recvmsg(client, &message.header, MSG_CMSG_CLOEXEC);
    const cmsghdr* files = size > 0 ? CMSG_FIRSTHDR(&message.header) : nullptr;
    if (!files || files->cmsg_len != CMSG_LEN(3 * sizeof(int))) {
      close(client);
      return;
    }
    Request request = read(static_cast<std::size_t>(size));
    std::memcpy(request.files.data(), CMSG_DATA(files), sizeof request.files);
    const pid_t child = fork();
    if (child == 0) run(request);
    for (const int file : request.files) close(file);
    if (child > 0)
      clients_[child] = client;
    else
      close(client);
  }

  Request read(std::size_t size) {
    std::vector<char*> words;
    for (char* word = text_.data(); word < text_.data() + size; word += std::strlen(word) + 1)
      words.push_back(word);
    Request request{.folder = words.at(0)};
    const auto first = words.begin() + 2, end = first + std::stoi(words.at(1));
    request.words.assign(first, end);
    request.environment.assign(end, words.end());
    request.environment.push_back(nullptr);
    return request;
  }

  [[noreturn]] void run(Request& request) const {
    begin_child();
    for (int number = 0; number < 3; ++number)
      dup2(request.files[static_cast<std::size_t>(number)], number);
    if (chdir(request.folder.c_str()) != 0) fail(request.folder.c_str());
    environ = request.environment.data();
    const int code = cli::run_program(static_cast<int>(request.words.size()), request.words.data());
    std::fflush(nullptr);
    std::_Exit(code);
  }

  /// Tells clients how their commands ended. The status of the command when it is among them, else
  /// -1.
  int reap() {
    signalfd_siginfo information;
    if (::read(ended_, &information, sizeof information) < 0) fail("symprof_server: read");
    int status = 0;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (child == command_) return status;
      const auto found = clients_.find(child);
      if (found == clients_.end()) continue;
      send(found->second, &status, sizeof status, MSG_NOSIGNAL);
      close(found->second);
      clients_.erase(found);
    }
    return -1;
  }

  /// A test that gave up has killed its client: nobody waits for what runs for it.
  void stop_children_of_gone_clients(const std::vector<pollfd>& watched) const {
    for (const pollfd& one : watched)
      if (one.revents & POLLHUP)
        for (const auto& [child, client] : clients_)
          if (client == one.fd) kill(child, SIGKILL);
  }

  sigset_t signals_before_;
  int ended_ = -1, listener_ = -1;
  pid_t command_ = -1;
  std::string text_;
  std::map<pid_t, int> clients_;
};

}  // namespace
}  // namespace symprof::serve

int main(int count, char** words) {
  if (count < 2) {
    std::fputs("usage: symprof_server COMMAND…\n", stderr);
    return 2;
  }
  if (!dlopen(symprof::torch_library_path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
    std::fprintf(stderr, "symprof_server: %s\n", dlerror());
    return 3;
  }
  const int status = symprof::serve::Server(words + 1).serve();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
