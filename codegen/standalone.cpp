#include "codegen/standalone.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "codegen/names.h"
#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

namespace fs = std::filesystem;

/// Puts headers before those that include them. Conditional includes (the part of vec.hpp for a machine) stay where
/// they are.
class Paster {
 public:
  void add(const fs::path& relative) {
    if (seen_.insert(relative.string()).second) text_ += paste(relative, 0);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string paste(const fs::path& relative, int depth) {
    std::ifstream in(fs::path(runtime_folder()) / "onnxc" / relative);
    if (!in)
      throw Error(ErrorCode::RuntimeMissing, fmt::format("runtime header onnxc/{} is missing", relative.string()),
                  "set ONNXC_RUNTIME_DIR to the folder that holds onnxc/");
    std::string guard = "ONNXC_PASTED_" + relative.string();
    for (char& c : guard) c = isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(toupper(static_cast<unsigned char>(c))) : '_';
    std::string body, line;
    while (std::getline(in, line)) {
      if (line == "#pragma once") continue;
      if (line.starts_with("#if")) ++depth;
      if (line.starts_with("#endif")) --depth;
      if (line.starts_with("#include \"")) {
        const fs::path name = (relative.parent_path() / line.substr(10, line.find('"', 10) - 10)).lexically_normal();
        if (depth == 0) add(name);
        else if (seen_.count(name.string()) == 0) body += paste(name, depth);
        continue;
      }
      body += line + "\n";
    }
    if (in.bad()) throw Error(ErrorCode::RuntimeMissing, fmt::format("runtime header onnxc/{} cannot be read", relative.string()));
    return fmt::format("// ---- onnxc/{}\n#ifndef {}\n#define {}\n{}#endif\n\n", relative.string(), guard, guard, body);
  }

  std::set<std::string> seen_;
  std::string text_;
};

}  // namespace

std::string runtime_folder() {
  std::vector<fs::path> candidates;
  if (const char* set = std::getenv("ONNXC_RUNTIME_DIR")) candidates.emplace_back(set);
  std::error_code ignored;
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  candidates.push_back(self.parent_path() / ".." / "include");
#ifdef ONNXC_RUNTIME_DIR
  candidates.emplace_back(ONNXC_RUNTIME_DIR);
#endif
  for (const auto& c : candidates) {
    if (fs::exists(c / "onnxc" / "base.hpp", ignored)) return c.lexically_normal().string();
  }
  throw Error(ErrorCode::RuntimeMissing, "the runtime headers are not found", "set ONNXC_RUNTIME_DIR to the folder that holds onnxc/");
}

std::string paste_headers(const std::set<std::string>& headers) {
  Paster paster;
  for (const auto& h : headers) paster.add(h);
  return paster.take();
}

}  // namespace onnxc
