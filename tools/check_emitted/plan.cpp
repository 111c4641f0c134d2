#include "tools/check_emitted/plan.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace onnxc::check_emitted {
namespace {

int number_at(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// `  %12   arena       512*batch bytes  f32[1, batch, 128] '/rnn/Slice' in %9 at 512*batch`: names may hold anything, so the end is read from
/// behind.
void read_buffer(std::string_view line, MemoryPlan& plan) {
  const auto bad = [&] { return std::invalid_argument("the plan has a line that is none: " + std::string(line)); };
  const int id = number_at(line.substr(3));
  const std::size_t space = line.find_first_not_of(' ', line.find(' ', 3));
  if (id < 0 || space == line.npos) throw bad();
  std::string_view rest = line.substr(space);
  const std::size_t bytes = rest.find(" bytes  "), quote = rest.rfind('\'');
  const bool is_tensor = rest.starts_with("input ") || rest.starts_with("output "), is_in_arena = rest.starts_with("arena ");
  if (!is_tensor && !is_in_arena) return;
  if (bytes == rest.npos || quote == rest.npos) throw bad();
  rest.remove_prefix(rest.find(' '));
  PlannedBuffer buffer;
  buffer.bytes = parse_dim(trimmed(rest.substr(0, rest.find(" bytes  "))));
  std::map<std::string, Dim> symbols;
  buffer.bytes.collect_symbols(symbols);
  for (const auto& [name, symbol] : symbols) {
    if (!name.starts_with('@')) plan.symbols.emplace(name, symbol);  // which a step of a run binds
  }
  if (is_tensor) return;
  std::string_view place = rest.substr(rest.rfind("' ") + 1);
  const std::size_t at = place.find(" at "), live = place.find(" live [");
  if (at == place.npos) {
    plan.is_divided = true;  // a GPU's buffers state other things
    return;
  }
  buffer.offset = parse_dim(trimmed(place.substr(at + 4, live == place.npos ? place.npos : live - at - 4)));
  if (place.starts_with(" in %")) {
    buffer.parent = number_at(place.substr(5));
  } else {
    if (live == place.npos) throw bad();
    buffer.first = number_at(place.substr(live + 7));
    buffer.last = number_at(place.substr(place.find(", ", live) + 2));
    if (place.find(") in ") != place.npos) plan.is_divided = true;
  }
  plan.buffers.emplace(id, buffer);
}

}  // namespace

int MemoryPlan::root_of(int buffer) const {
  while (buffers.contains(buffer) && buffers.at(buffer).parent >= 0) buffer = buffers.at(buffer).parent;
  return buffer;
}

Dim MemoryPlan::offset_in_root(int buffer) const {
  Dim offset = 0;
  for (; buffers.contains(buffer) && buffers.at(buffer).parent >= 0; buffer = buffers.at(buffer).parent)
    offset += buffers.at(buffer).offset;
  return offset;
}

std::map<std::string, MemoryPlan> read_plans(std::string_view text) {
  std::map<std::string, MemoryPlan> plans;
  std::istringstream lines{std::string(text)};
  std::string variant;
  MemoryPlan* plan = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("variant ")) variant = line.substr(8);
    else if (line.starts_with("program ")) plan = &plans[variant];
    else if (plan == nullptr) continue;
    else if (line.starts_with("arena ")) plan->arena_bytes = parse_dim(line.substr(6, line.find(" bytes") - 6));
    else if (line.starts_with("region ") || line.starts_with("device arena")) plan->is_divided = true;
    else if (line.starts_with("  %")) read_buffer(line, *plan);
  }
  if (plans.empty()) throw std::invalid_argument("there is no plan: give what onnxc --emit=program prints");
  return plans;
}

}  // namespace onnxc::check_emitted
