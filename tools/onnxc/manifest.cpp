#include "tools/onnxc/manifest.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "compiler/support/error_codes.h"
#include "compiler/support/sha256.h"
#include "tools/driver/build_library.h"
#include "tools/driver/json_text.h"

namespace onnxc {
namespace {

using nlohmann::ordered_json;

HashedFile hashed(const std::filesystem::path& path, const Text& text) {
  HashedFile file{path.filename().string(), {}, 0};
  Sha256 hash;
  text.write([&](std::string_view piece) {
    hash.add(std::as_bytes(std::span(piece)));
    file.bytes += static_cast<int64_t>(piece.size());
  });
  file.sha256 = hash.hex();
  return file;
}

/// In pieces: external data may be larger than what is free now.
HashedFile hashed(const std::filesystem::path& path) {
  HashedFile file{path.filename().string(), {}, 0};
  Sha256 hash;
  std::ifstream in(path, std::ios::binary);
  std::vector<char> piece(1 << 20);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    const auto n = static_cast<std::size_t>(in.gcount());
    hash.add(std::as_bytes(std::span(piece).first(n)));
    file.bytes += in.gcount();
  }
  if (!in.eof()) throw Error(ErrorCode::CannotRead, fmt::format("{} cannot be read again for the manifest", path.string()));
  file.sha256 = hash.hex();
  return file;
}

ordered_json json_of(const HashedFile& file) { return {{"file", file.name}, {"sha256", file.sha256}, {"bytes", file.bytes}}; }

}  // namespace

void Outputs::add(const std::filesystem::path& path, const std::string& bytes) {
  files_.add(path, bytes);  // weights among them: no copy of these
  if (wants_hashes_)
    hashes_.push_back({path.filename().string(), sha256(std::as_bytes(std::span(bytes))), static_cast<int64_t>(bytes.size())});
}
void Outputs::add(const std::filesystem::path& path, const Text& text) {
  files_.add(path, text);
  if (wants_hashes_) hashes_.push_back(hashed(path, text));
}

std::string manifest(const Provenance& from, const std::vector<HashedFile>& made) {
  ordered_json json{{"format", "onnxc manifest 1"}, {"onnxc", ONNXC_VERSION}, {"runtime", runtime_fingerprint()}, {"target", from.target}};
  if (!from.compiler.empty()) json["compiler"] = from.compiler;
  json["options"] = ordered_json::object();
  for (const auto& [name, values] : from.options) json["options"][name] = values;
  ordered_json read = ordered_json::array();
  for (const std::filesystem::path& path : from.read) read.push_back(json_of(hashed(path)));
  // What was compiled, whatever the file holds by now.
  read.at(0)["sha256"] = from.info.sha256;
  json["model"] = std::move(read.at(0));
  read.erase(0);
  json["beside_the_model"] = std::move(read);
  json["made"] = ordered_json::array();
  for (const HashedFile& file : made) json["made"].push_back(json_of(file));
  return json_text(json);
}

}  // namespace onnxc
