// The functions of ONNX Runtime's C API that the workbench calls, declared here because the wheels
// with the library contain no headers. OrtApi is a table of function pointers to which releases
// only append, so a function is an index in the table: microsoft/onnxruntime,
// include/onnxruntime/core/session/onnxruntime_c_api.h, struct OrtApi.
#pragma once

#include <cstddef>
#include <cstdint>

namespace symprof::workbench::ort {

struct Table;  ///< OrtApi.
struct Env;
struct Status;
struct MemoryInfo;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct Allocator;
struct TypeInfo;
struct SequenceTypeInfo;
struct TensorTypeAndShapeInfo;

/// OrtApiBase, returned by the library's only symbol.
struct Base {
  const Table* (*table)(std::uint32_t version);  ///< Null for a version that the library lacks.
  const char* (*version)();
};
constexpr const char* entry_symbol = "OrtGetApiBase";
using Entry = const Base* (*)();

/// The version of the table that introduced the last of the functions below.
constexpr std::uint32_t table_version = 2;

template <std::size_t place, class Signature>
struct Function;

template <std::size_t place, class Result, class... Arguments>
struct Function<place, Result(Arguments...)> {
  static Result call(const Table* table, Arguments... arguments) {
    const auto* functions = reinterpret_cast<Result (*const*)(Arguments...)>(table);
    return functions[place](arguments...);
  }
};

// Enumerations of the same header.
constexpr int log_fatal = 4;            // OrtLoggingLevel
constexpr int optimize_nothing = 0;     // GraphOptimizationLevel: ORT_DISABLE_ALL
constexpr int type_tensor = 1;          // ONNXType
constexpr int type_sequence = 2;        // ONNXType
constexpr int allocator_of_device = 0;  // OrtAllocatorType
constexpr int memory_default = 0;       // OrtMemType

// Functions that return a Status return null on success. Element types are those of
// onnx.TensorProto.
using GetErrorMessage = Function<2, const char*(const Status*)>;
using CreateEnv = Function<3, Status*(int level, const char* id, Env** out)>;
using CreateSessionFromArray = Function<8, Status*(const Env*, const void* bytes, std::size_t,
                                                   const SessionOptions*, Session** out)>;
using Run = Function<9, Status*(Session*, const RunOptions*, const char* const* names,
                                const Value* const* inputs, std::size_t,
                                const char* const* output_names, std::size_t, Value** outputs)>;
using CreateSessionOptions = Function<10, Status*(SessionOptions** out)>;
using DisableMemPattern = Function<17, Status*(SessionOptions*)>;
using DisableCpuMemArena = Function<19, Status*(SessionOptions*)>;
using SetSessionLogSeverityLevel = Function<22, Status*(SessionOptions*, int level)>;
using SetSessionGraphOptimizationLevel = Function<23, Status*(SessionOptions*, int level)>;
using SetIntraOpNumThreads = Function<24, Status*(SessionOptions*, int threads)>;
using CreateTensorWithDataAsOrtValue =
    Function<49, Status*(const MemoryInfo*, void* data, std::size_t bytes,
                         const std::int64_t* sizes, std::size_t, int element_type, Value** out)>;
using GetTensorMutableData = Function<51, Status*(Value*, void** out)>;
using GetTensorElementType = Function<60, Status*(const TensorTypeAndShapeInfo*, int* out)>;
using GetDimensionsCount = Function<61, Status*(const TensorTypeAndShapeInfo*, std::size_t* out)>;
using GetDimensions =
    Function<62, Status*(const TensorTypeAndShapeInfo*, std::int64_t* out, std::size_t)>;
using CastTypeInfoToTensorInfo =
    Function<55, Status*(const TypeInfo*, const TensorTypeAndShapeInfo** out)>;
using GetTensorTypeAndShape = Function<65, Status*(const Value*, TensorTypeAndShapeInfo** out)>;
using GetTypeInfo = Function<66, Status*(const Value*, TypeInfo** out)>;
using GetValueType = Function<67, Status*(const Value*, int* out)>;
using CreateCpuMemoryInfo = Function<69, Status*(int allocator, int memory, MemoryInfo** out)>;
using GetAllocatorWithDefaultOptions = Function<78, Status*(Allocator** out)>;
using GetValue = Function<80, Status*(const Value*, int index, Allocator*, Value** out)>;
using GetValueCount = Function<81, Status*(const Value*, std::size_t* out)>;
using ReleaseStatus = Function<93, void(Status*)>;
using ReleaseSession = Function<95, void(Session*)>;
using ReleaseValue = Function<96, void(Value*)>;
using ReleaseTypeInfo = Function<98, void(TypeInfo*)>;
using ReleaseTensorTypeAndShapeInfo = Function<99, void(TensorTypeAndShapeInfo*)>;
using CastTypeInfoToSequenceTypeInfo =
    Function<104, Status*(const TypeInfo*, const SequenceTypeInfo** out)>;
using GetSequenceElementType = Function<107, Status*(const SequenceTypeInfo*, TypeInfo** out)>;

}  // namespace symprof::workbench::ort
