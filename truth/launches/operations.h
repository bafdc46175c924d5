// What a GPU that computes nothing was asked to do: kept in order, with made-up times, and told to
// the CUPTI beside it (cupti.cpp) and to a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fake {

/// One thing that a GPU would have run.
struct Operation {
  enum class Kind : std::uint8_t {
    kernel,
    copy,
    set,
    library,  ///< A call of cuBLAS, cuDNN, …: which kernels it runs is not known. Here it is one.
  };
  Kind kind = Kind::kernel;
  const char* name = "";  ///< Mangled, of a kernel; else the function's that was called.
  unsigned grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t bytes = 0;  ///< Copied or set.
  int copy_kind = 0;        ///< cudaMemcpyKind
  std::uint64_t stream = 0;
  std::uint64_t graph_node = 0;  ///< Counted from 1; 0: no CUDA graph launched it.
  // What run() and launch() fill in:
  std::uint32_t correlation = 0;
  std::uint64_t duration_ns = 0;
};

/// The call of CUDA that asks: CUPTI's number for it, in the runtime's or in the driver's table.
struct Api {
  int cbid = 0;
  bool is_driver = false;
};

/// Runs `operation`, or adds it to the graph that its stream captures.
void run(const Operation& operation, Api api);
/// Runs several by one call, as the launch of a graph does; none: a call that asks for nothing.
void launch(std::vector<Operation> operations, Api api);

/// The made-up times of all that a stream was given so far.
std::uint64_t busy_ns(std::uint64_t stream);

void begin_capture(std::uint64_t stream);
bool is_capturing(std::uint64_t stream);
std::vector<Operation> end_capture(std::uint64_t stream);

/// A line that says that the program took its records. Operations before it ended.
void write_flush();

/// A call of a library that runs kernels on the stream that this thread gave it last; 0, its
/// success.
int run_library_call(const char* name, unsigned m = 1, unsigned n = 1, unsigned k = 1);
void set_library_stream(const void* stream);

}  // namespace fake

extern "C" {
/// The program enters and leaves a function, "aten::mm" or a frame of autograd's engine
/// (calls.cpp).
void fake_enter(const char* name);
void fake_leave();
}
