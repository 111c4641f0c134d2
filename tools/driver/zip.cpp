#include "tools/driver/zip.h"

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "compiler/support/error.h"

namespace onnxc {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint16_t kVersion = 20, kUtf8 = 1 << 11, kStored = 0, kMidnight = 0, kFirstDay = (1 << 5) | 1;  // of January 1980

void append16(std::string& out, std::initializer_list<uint16_t> values) {
  for (const uint16_t value : values) {
    out += static_cast<char>(value & 0xff);
    out += static_cast<char>(value >> 8);
  }
}
void append32(std::string& out, std::initializer_list<uint32_t> values) {
  for (const uint32_t value : values) append16(out, {static_cast<uint16_t>(value & 0xffff), static_cast<uint16_t>(value >> 16)});
}

}  // namespace

std::string zip(const std::map<std::string, std::string>& files) {
  std::string out, directory;
  for (const auto& [path, bytes] : files) {
    if (out.size() + bytes.size() + directory.size() > std::numeric_limits<uint32_t>::max() - (1u << 20))
      throw Error(ErrorKind::Budget, "the archive would take more than 4 GiB");
    const auto at = static_cast<uint32_t>(out.size()), size = static_cast<uint32_t>(bytes.size());
    const auto crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), size));
    const auto describe = [&](std::string& to) {
      append16(to, {kVersion, kUtf8, kStored, kMidnight, kFirstDay});
      append32(to, {crc, size, size});
      append16(to, {static_cast<uint16_t>(path.size()), 0});
    };
    append32(out, {kLocal});
    describe(out);
    out += path + bytes;
    append32(directory, {kCentral});
    append16(directory, {kVersion});
    describe(directory);
    append16(directory, {0, 0, 0});
    append32(directory, {0, at});
    directory += path;
  }
  const auto count = static_cast<uint16_t>(files.size());
  const auto begin = static_cast<uint32_t>(out.size()), size = static_cast<uint32_t>(directory.size());
  out += directory;
  append32(out, {kEnd});
  append16(out, {0, 0, count, count});
  append32(out, {size, begin});
  append16(out, {0});
  return out;
}

}  // namespace onnxc
