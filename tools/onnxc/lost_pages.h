// What happens where a file that is mapped (compiler/support/mapped_file.h) becomes shorter, or its disk fails: the system sends SIGBUS.
#pragma once
#include <string>

namespace onnxc {

/// From now on that ends the process as Error{Io} would, with one line that names the file. `model` is for that line.
void expect_lost_pages(const std::string& model);

}  // namespace onnxc
