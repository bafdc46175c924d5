// Writes a model in ONNX's text syntax as a file: text_to_onnx MODEL.onnx <TEXT
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: text_to_onnx MODEL.onnx <TEXT\n";
    return 2;
  }
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  if (const auto status = parser.Parse(model); !status.IsOK()) {
    std::cerr << status.ErrorMessage() << '\n';
    return 1;
  }
  std::ofstream file(arguments[1], std::ios::binary);
  return model.SerializeToOstream(&file) ? 0 : 1;
}
