// An archive ends with a record that says where its directory is; the directory says where each member is, how long, and how it is compressed. Sizes that
// need more than 32 bits are all ones there and follow in an extra field.
#include "tools/calibration/zip_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "compiler/support/error.h"
#include "compiler/support/error_codes.h"

namespace onnxc {
namespace {

constexpr uint32_t kEndMark = 0x06054b50, kEndMark64 = 0x06064b50, kLocatorMark64 = 0x07064b50, kDirectoryMark = 0x02014b50,
                   kMemberMark = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kLongestComment = 0xffff;
constexpr uint64_t kMostDeflated = 1032;  ///< DEFLATE makes no more bytes from one

[[noreturn]] void damaged_zip(const std::string& what) {
  throw Error(ErrorCode::DamagedData, "a damaged zip archive: " + what, "write it again with numpy.savez");
}

/// Little-endian numbers of a record.
class Record {
 public:
  Record(std::string_view archive, uint64_t at, std::size_t bytes) {
    if (at > archive.size() || archive.size() - at < bytes) damaged_zip("it ends too early");
    bytes_ = archive.substr(static_cast<std::size_t>(at), bytes);
  }
  uint64_t number(std::size_t at, std::size_t width) const {
    if (at + width > bytes_.size()) damaged_zip("a field is cut off");
    uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value |= uint64_t{static_cast<unsigned char>(bytes_[at + i])} << (8 * i);
    return value;
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct Directory {
  uint64_t at = 0, members = 0;
};

Directory find_directory(std::string_view archive) {
  const std::size_t furthest = std::min(archive.size(), kEndBytes + kLongestComment);
  for (std::size_t back = kEndBytes; back <= furthest; ++back) {
    const std::size_t at = archive.size() - back;
    const Record end(archive, at, kEndBytes);
    if (end.number(0, 4) != kEndMark || end.number(20, 2) != back - kEndBytes) continue;
    Directory directory{end.number(16, 4), end.number(10, 2)};
    constexpr std::size_t kLocatorBytes = 20, kEndBytes64 = 56;
    if (at >= kLocatorBytes) {
      const Record locator(archive, at - kLocatorBytes, kLocatorBytes);
      if (locator.number(0, 4) == kLocatorMark64) {
        const Record end64(archive, locator.number(8, 8), kEndBytes64);
        if (end64.number(0, 4) != kEndMark64) damaged_zip("its 64-bit directory is not where it says");
        directory = {end64.number(48, 8), end64.number(32, 8)};
      }
    }
    return directory;
  }
  throw Error(ErrorCode::DamagedData, "no zip archive", "an .npz file is what numpy.savez writes");
}

std::string inflated(std::string_view packed, uint64_t size, const std::string& name) {
  if (size / kMostDeflated > packed.size()) damaged_zip(fmt::format("'{}' cannot have {} bytes", name, size));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error(ErrorCode::OutOfMemory, "no memory to decompress");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  uint64_t left_in = packed.size(), left_out = size;
  int state = Z_OK;
  char beyond = 0;  // an empty member still needs a place to write to
  if (size == 0) stream.next_out = reinterpret_cast<Bytef*>(&beyond);
  while (state == Z_OK) {  // zlib counts in 32 bits
    const auto in = static_cast<uInt>(std::min<uint64_t>(left_in, 1u << 30)),
               out = static_cast<uInt>(std::min<uint64_t>(left_out, 1u << 30));
    stream.avail_in = in;
    stream.avail_out = out;
    state = inflate(&stream, Z_NO_FLUSH);
    left_in -= in - stream.avail_in;
    left_out -= out - stream.avail_out;
    if (state == Z_OK && stream.avail_in == in && stream.avail_out == out) state = Z_BUF_ERROR;
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || left_out != 0) damaged_zip(fmt::format("'{}' cannot be decompressed", name));
  return bytes;
}

ZipMember read_member(std::string_view archive, const Record& entry, std::string_view names) {
  ZipMember member;
  const auto name_bytes = static_cast<std::size_t>(entry.number(28, 2)), extra_bytes = static_cast<std::size_t>(entry.number(30, 2));
  member.name = one_line(std::string(names.substr(0, name_bytes)));
  uint64_t packed = entry.number(20, 4), size = entry.number(24, 4), at = entry.number(42, 4);
  const Record extra(names, name_bytes, extra_bytes);
  for (std::size_t i = 0; i + 4 <= extra_bytes;) {
    const auto kind = extra.number(i, 2), bytes = extra.number(i + 2, 2);
    std::size_t field = i + 4;
    for (uint64_t* value : {&size, &packed, &at}) {  // in this order, those that are all ones
      if (kind != 1 || *value != 0xffffffff) continue;
      *value = extra.number(field, 8);
      field += 8;
    }
    i += 4 + static_cast<std::size_t>(bytes);
  }
  if ((entry.number(8, 2) & 1) != 0) throw Error(ErrorCode::DataForm, fmt::format("'{}' is encrypted", member.name));
  const Record local(archive, at, 30);
  if (local.number(0, 4) != kMemberMark) damaged_zip(fmt::format("'{}' is not where the directory says", member.name));
  if (packed > archive.size()) damaged_zip(fmt::format("'{}' ends too early", member.name));
  const std::string_view bytes =
      Record(archive, at + 30 + local.number(26, 2) + local.number(28, 2), static_cast<std::size_t>(packed)).bytes();
  switch (const uint64_t method = entry.number(10, 2)) {
    case 0: member.bytes = bytes; break;
    case 8: member.bytes = inflated(bytes, size, member.name); break;
    default:
      throw Error(ErrorCode::DataForm, fmt::format("'{}' is compressed by method {}", member.name, method),
                  "write it with numpy.savez or numpy.savez_compressed");
  }
  if (member.bytes.size() != size) damaged_zip(fmt::format("'{}' has {} bytes, not {}", member.name, member.bytes.size(), size));
  const auto* data = reinterpret_cast<const Bytef*>(member.bytes.data());
  if (crc32_z(0, data, member.bytes.size()) != entry.number(16, 4)) damaged_zip(fmt::format("the checksum of '{}' is wrong", member.name));
  return member;
}

}  // namespace

std::vector<ZipMember> read_zip(std::string_view archive) {
  const Directory directory = find_directory(archive);
  std::vector<ZipMember> members;
  uint64_t at = directory.at;
  constexpr std::size_t kEntryBytes = 46;
  for (uint64_t i = 0; i < directory.members; ++i) {
    const Record entry(archive, at, kEntryBytes);
    if (entry.number(0, 4) != kDirectoryMark) damaged_zip("its directory is not where it says");
    const uint64_t names = entry.number(28, 2) + entry.number(30, 2);
    members.push_back(read_member(archive, entry, Record(archive, at + kEntryBytes, static_cast<std::size_t>(names)).bytes()));
    at += kEntryBytes + names + entry.number(32, 2);
  }
  return members;
}

}  // namespace onnxc
