// Files as memory: pages are read when somebody looks at them, and the system may take them back at any time. Such memory is not onnxc's own,
// so a model may be larger than what is free.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace onnxc {

/// The first `bytes` of an open file, which are not to be changed. Null where the system cannot map it. A file that shrinks meanwhile
/// leads to SIGBUS (mapped_file_at). `name` is what people call it.
std::shared_ptr<const std::byte> map_file(int file, std::size_t bytes, std::string name);

/// Zeros in a temporary file without a name, which goes with the last owner. Null where there is no room on a disk.
std::shared_ptr<std::byte> map_scratch(std::size_t bytes);

/// Takes pages of such memory out of this process; they are read again when they are needed.
void give_back_pages(const std::byte* first, std::size_t bytes) noexcept;

/// For a handler of SIGBUS: the name of the file whose page could not be read, or null.
const char* mapped_file_at(const void* address) noexcept;

}  // namespace onnxc
