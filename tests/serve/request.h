// What the client asks of the server: one message of words, each with a zero behind it, with the
// client's standard input, output and error beside them; the answer is the status as wait(2) gives
// it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace symprof::serve {

/// Names the server's socket to clients. Without it there is no server.
constexpr const char* socket_variable = "SYMPROF_TEST_SERVER";

/// The longest message; a client with more runs the program itself.
constexpr std::size_t most_bytes = 128 << 10;

/// A name that is in no file system and that goes with the server (unix(7), abstract addresses).
struct Address {
  explicit Address(std::string_view name) {
    name = name.substr(0, sizeof(address.sun_path) - 1);
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t bytes = 0;
};

/// A message's buffers: its text, and room for three open files.
struct Message {
  Message(char* data, std::size_t size) : text{.iov_base = data, .iov_len = size} {
    header.msg_iov = &text;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  iovec text;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
  msghdr header{};
};

}  // namespace symprof::serve
