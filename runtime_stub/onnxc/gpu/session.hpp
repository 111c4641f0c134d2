// What the session of an emitted unit stands on: memory of one GPU, with the weights in it, and graphs.
//
// A unit tells of itself by `Unit`. Its `enqueue` states all work of a run on a stream. Where it says `can_capture`, it waits
// for nothing, so that a graph can be made of it, of the session's or of its caller's own. A session keeps graphs for the last
// eight sets of sizes. What it sees for the first time it enqueues without one, since a graph costs as much as some runs.
//
//   memory that stays: | weights | words |        that grows with sizes: | arena | inputs | outputs |   on the host: | arena |
//
//   run:  inputs → staging │ copy in, steps, copy out, status: one graph │ staging → outputs
#pragma once
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "../contract/device_memory.hpp"
#include "queue.hpp"

namespace onnxc::inline ONNXC_ISA::gpu {

/// Bytes of a run's memory.
struct UnitSizes {
  std::size_t *inputs, *outputs;  ///< of each; those of tensors on the host do not matter
  std::size_t arena = 0, host_arena = 0;
};

/// What a run gets of its caller, in the unit's order.
struct Arguments {
  const int64_t* symbols = nullptr;
  /// Elements; of what is no tensor, its onnxc_value.
  const void* const* inputs = nullptr;
  void* const* outputs = nullptr;
  /// Where an output whose size the run tells stores its shape, or null; null if there are none.
  int64_t* const* shapes = nullptr;
  const onnxc_allocator* allocator = nullptr;  ///< of memory of the host, where the unit needs it
};

struct Unit {
  int inputs = 0, outputs = 0, symbols = 0;  ///< how many
  /// Of each input, then of each output, whether it stays with the caller, on the host. Null: none does.
  const bool* on_host = nullptr;
  std::size_t host_alignment = 64;  ///< of the arena on the host
  std::size_t words = 1;            ///< of DeviceMemory; the first is the status
  bool can_capture = true;          ///< no step needs the host
  /// What is copied to the device once.
  std::span<const std::byte> (*weights)() noexcept = nullptr;
  Status (*sizes)(const int64_t* symbols, UnitSizes& to) noexcept = nullptr;
  /// Pointers to inputs and outputs that do not stay on the host are on the device.
  Status (*enqueue)(const Arguments& arguments, const DeviceMemory& memory, Stream stream) noexcept = nullptr;
};

/// One run at a time; any number of sessions, on any threads.
class Session {
 public:
  static constexpr int kGraphs = 8;

  /// The unit must outlive the session.
  explicit Session(const Unit& unit) noexcept : unit_(unit) {}
  explicit Session(const Unit&&) = delete;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { close(); }

  /// Takes memory and copies the weights. Where sizes are constant, all memory, and the graph is made.
  Status open(const DeviceOptions& options = {}) noexcept {
    close();
    options_ = options;
    const Status s = take();
    if (s) close();
    return s;
  }

  /// Waits for the results. Inputs and outputs are the caller's elements, as many bytes as the unit's `sizes` tell.
  Status run(const Arguments& arguments) noexcept {
    if (stay_ == nullptr) return {ONNXC_DEVICE_FAILED, "the session is not open"};
    const DeviceInUse device(options_.ordinal);
    if (const Status s = device.status()) return s;
    Sizes* sizes = nullptr;
    bool seen = false;
    Status s = find(arguments.symbols, sizes, seen);
    if (!s) s = make_room(*sizes);
    if (!s && seen && captures() && !sizes->graph.ready()) s = capture(*sizes);
    if (!s) s = run(*sizes, arguments);
    return s;
  }

  /// One run without a graph, in memory that it takes and gives back. `host_arena`: the unit's, of the caller.
  static Status run_once(const Unit& unit, const Arguments& arguments, std::byte* host_arena) noexcept {
    Session session(unit);
    session.once_ = true;
    session.callers_host_arena_ = host_arena;
    const Status s = session.open({.pinned = false});
    return s ? s : session.run(arguments);
  }

  /// Gives all memory back. A session that is closed may be opened again.
  void close() noexcept {
    if (stream_ != nullptr) (void)finish(stream_);
    for (Sizes& sizes : sizes_) {
      sizes.graph.reset();
      sizes.used = 0;
    }
    release(stay_);
    release(grow_);
    release_host(staging_);
    release_host(status_);
    release_host_arena();
    if (stream_ != options_.stream && stream_ != nullptr) close_stream(stream_);
    stay_ = grow_ = staging_ = status_ = nullptr;
    stream_ = nullptr;
    grow_bytes_ = staging_bytes_ = 0;
  }

  Stream stream() const noexcept { return stream_; }

 private:
  /// An input or output.
  struct Place {
    std::size_t bytes = 0, on_device = 0, in_staging = 0;
  };
  /// What is known of a run with these symbols.
  struct Sizes {
    std::unique_ptr<int64_t[]> symbols;
    std::unique_ptr<Place[]> places;  ///< inputs, then outputs
    std::size_t device_bytes = 0, staging_bytes = 0, host_arena_bytes = 0;
    Graph graph;
    uint64_t used = 0;  ///< when it was used last; 0: never
  };

  static std::size_t room(std::size_t& total, std::size_t bytes) noexcept {
    const std::size_t at = total, more = contract::device_room(bytes);
    total = more > SIZE_MAX - at ? SIZE_MAX : at + more;  // which no allocation gives
    return at;
  }
  std::byte* stay(std::size_t offset) const noexcept { return static_cast<std::byte*>(stay_) + offset; }
  std::byte* grow(std::size_t offset) const noexcept { return static_cast<std::byte*>(grow_) + offset; }
  std::byte* staging(std::size_t offset) const noexcept { return static_cast<std::byte*>(staging_) + offset; }
  unsigned* words() const noexcept { return reinterpret_cast<unsigned*>(stay(words_at_)); }
  bool captures() const noexcept { return unit_.can_capture && !once_; }
  bool is_on_host(int tensor) const noexcept { return unit_.on_host != nullptr && unit_.on_host[tensor]; }

  Status allocate_host(void*& p, std::size_t bytes) noexcept {
    if (options_.pinned) return allocate_pinned(p, bytes);  // whole pages
    p = ::operator new(bytes, host_alignment(), std::nothrow);
    return p != nullptr ? Status{} : Status{ONNXC_OUT_OF_MEMORY, "memory of the host"};
  }
  void release_host(void* p) noexcept {
    if (p == nullptr) return;
    if (options_.pinned) release_pinned(p);
    else ::operator delete(p, host_alignment());
  }

  std::align_val_t host_alignment() const noexcept { return std::align_val_t{unit_.host_alignment}; }
  void release_host_arena() noexcept {
    release_host(host_arena_);
    host_arena_ = nullptr;
    host_arena_bytes_ = 0;
  }

  Status take() noexcept {
    const DeviceInUse device(options_.ordinal);
    if (const Status s = device.status()) return s;
    const auto tensors = static_cast<std::size_t>(unit_.inputs + unit_.outputs);
    pointers_.reset(new (std::nothrow) void*[tensors]);
    bytes_.reset(new (std::nothrow) std::size_t[tensors]);
    if (pointers_ == nullptr || bytes_ == nullptr) return {ONNXC_OUT_OF_MEMORY};
    stream_ = options_.stream;
    if (stream_ == nullptr) {
      if (const Status s = open_stream(stream_)) return s;
    }
    std::size_t total = 0;
    const std::span<const std::byte> image = unit_.weights();
    const std::size_t weights = room(total, image.size());
    words_at_ = room(total, unit_.words * sizeof(unsigned));
    if (const Status s = allocate(stay_, total)) return s;
    if (const Status s = allocate_host(status_, sizeof(unsigned))) return s;
    if (const Status s = to_device(stream_, stay(weights), image.data(), image.size())) return s;
    if (const Status s = clear(stream_, words(), unit_.words * sizeof(unsigned))) return s;
    if (const Status s = finish(stream_)) return s;
    if (unit_.symbols > 0) return {};
    Sizes* sizes = nullptr;
    bool seen = false;
    if (const Status s = find(nullptr, sizes, seen)) return s;
    if (const Status s = make_room(*sizes)) return s;
    return captures() ? capture(*sizes) : Status{};
  }

  /// What is known of these symbols; else what was used least recently makes way for it.
  Status find(const int64_t* symbols, Sizes*& to, bool& seen) noexcept {
    Sizes* oldest = &sizes_[0];
    for (Sizes& sizes : sizes_) {
      bool equal = sizes.used != 0;
      for (int i = 0; equal && i < unit_.symbols; ++i) equal = sizes.symbols[static_cast<std::size_t>(i)] == symbols[i];
      if (equal) {
        sizes.used = ++time_;
        to = &sizes;
        seen = true;
        return {};
      }
      if (sizes.used < oldest->used) oldest = &sizes;
    }
    oldest->used = 0;
    oldest->graph.reset();
    if (const Status s = measure(symbols, *oldest)) return s;
    oldest->used = ++time_;
    to = oldest;
    seen = unit_.symbols == 0;
    return {};
  }

  Status measure(const int64_t* symbols, Sizes& to) noexcept {
    const int tensors = unit_.inputs + unit_.outputs;
    const auto n = static_cast<std::size_t>(unit_.symbols);
    if (to.places == nullptr) {
      to.symbols.reset(new (std::nothrow) int64_t[n]);
      to.places.reset(new (std::nothrow) Place[static_cast<std::size_t>(tensors)]);
      if (to.symbols == nullptr || to.places == nullptr) {
        to.places = nullptr;
        return {ONNXC_OUT_OF_MEMORY};
      }
    }
    UnitSizes bytes{bytes_.get(), bytes_.get() + unit_.inputs};
    if (const Status s = unit_.sizes(symbols, bytes)) return s;
    for (std::size_t i = 0; i < n; ++i) to.symbols[i] = symbols[i];
    to.device_bytes = to.staging_bytes = 0;
    to.host_arena_bytes = bytes.host_arena;
    room(to.device_bytes, bytes.arena);
    for (int i = 0; i < tensors; ++i) {
      const std::size_t own = is_on_host(i) ? 0 : bytes_[static_cast<std::size_t>(i)];
      to.places[static_cast<std::size_t>(i)] = {own, room(to.device_bytes, own), room(to.staging_bytes, own)};
    }
    return {};
  }

  /// Memory for these sizes. Graphs know where it lay, so all end with the memory that was there.
  Status make_room(const Sizes& sizes) noexcept {
    if (sizes.device_bytes > grow_bytes_) {
      forget_memory();
      if (const Status s = allocate(grow_, sizes.device_bytes)) return s;
      grow_bytes_ = sizes.device_bytes;
    }
    if (options_.pinned && sizes.staging_bytes > staging_bytes_) {
      forget_graphs();
      release_host(staging_);
      staging_ = nullptr;
      staging_bytes_ = 0;
      if (const Status s = allocate_host(staging_, sizes.staging_bytes)) return s;
      staging_bytes_ = sizes.staging_bytes;
    }
    if (callers_host_arena_ == nullptr && sizes.host_arena_bytes > host_arena_bytes_) {
      release_host_arena();
      if (const Status s = allocate_host(host_arena_, sizes.host_arena_bytes)) return s;
      host_arena_bytes_ = sizes.host_arena_bytes;
    }
    return {};
  }
  void forget_graphs() noexcept {
    for (Sizes& sizes : sizes_) sizes.graph.reset();
  }
  void forget_memory() noexcept {
    forget_graphs();
    release(grow_);
    grow_ = nullptr;
    grow_bytes_ = 0;
  }

  Status capture(Sizes& sizes) noexcept {
    if (const Status s = sizes.graph.begin(stream_)) return s;
    const Status enqueued = enqueue(sizes, {});
    const Status ended = sizes.graph.end(stream_);
    if (!enqueued) return ended;
    sizes.graph.reset();
    return enqueued;
  }

  /// What a graph is made of. Where one is, nothing of the caller's is on the host.
  Status enqueue(const Sizes& sizes, const Arguments& arguments) noexcept {
    if (options_.pinned) {
      for (int i = 0; i < unit_.inputs; ++i) {
        const Place& p = sizes.places[static_cast<std::size_t>(i)];
        if (const Status s = to_device(stream_, grow(p.on_device), staging(p.in_staging), p.bytes)) return s;
      }
    }
    for (int i = 0; i < unit_.inputs + unit_.outputs; ++i) {
      const bool input = i < unit_.inputs;
      void*& p = pointers_[static_cast<std::size_t>(i)];
      if (!is_on_host(i)) p = grow(sizes.places[static_cast<std::size_t>(i)].on_device);
      else p = input ? const_cast<void*>(arguments.inputs[i]) : arguments.outputs[i - unit_.inputs];
    }
    DeviceMemory memory{grow(0), stay(0), words()};
    memory.host = callers_host_arena_ != nullptr ? callers_host_arena_ : static_cast<std::byte*>(host_arena_);
    const Arguments own{sizes.symbols.get(), pointers_.get(), pointers_.get() + unit_.inputs, arguments.shapes, arguments.allocator};
    if (const Status s = unit_.enqueue(own, memory, stream_)) return s;
    if (!options_.pinned) return {};
    for (int i = unit_.inputs; i < unit_.inputs + unit_.outputs; ++i) {
      const Place& p = sizes.places[static_cast<std::size_t>(i)];
      if (const Status s = to_host(stream_, staging(p.in_staging), grow(p.on_device), p.bytes)) return s;
    }
    return enqueue_status();
  }
  Status enqueue_status() noexcept {
    if (const Status s = to_host(stream_, status_, words(), sizeof(unsigned))) return s;
    return clear(stream_, words(), sizeof(unsigned));
  }

  Status run(Sizes& sizes, const Arguments& arguments) noexcept {
    const Status refused = enqueue_run(sizes, arguments);
    const Status finished = finish(stream_);
    if (refused || finished) {
      // Tickets may be half drawn.
      if (!finished && !clear(stream_, words(), unit_.words * sizeof(unsigned))) (void)finish(stream_);
      return refused ? refused : finished;
    }
    unsigned code = 0;
    std::memcpy(&code, status_, sizeof(code));
    if (code != 0) return {static_cast<int32_t>(code)};
    for (int i = 0; options_.pinned && i < unit_.outputs; ++i) {
      const Place& p = sizes.places[static_cast<std::size_t>(unit_.inputs + i)];
      if (p.bytes > 0) std::memcpy(arguments.outputs[i], staging(p.in_staging), p.bytes);
    }
    return {};
  }

  Status enqueue_run(Sizes& sizes, const Arguments& arguments) noexcept {
    for (int i = 0; i < unit_.inputs; ++i) {
      const Place& p = sizes.places[static_cast<std::size_t>(i)];
      if (p.bytes == 0) continue;
      if (options_.pinned) std::memcpy(staging(p.in_staging), arguments.inputs[i], p.bytes);
      else if (const Status s = to_device(stream_, grow(p.on_device), arguments.inputs[i], p.bytes)) return s;
    }
    if (const Status s = sizes.graph.ready() ? sizes.graph.launch(stream_) : enqueue(sizes, arguments)) return s;
    if (options_.pinned) return {};
    for (int i = 0; i < unit_.outputs; ++i) {
      const Place& p = sizes.places[static_cast<std::size_t>(unit_.inputs + i)];
      if (const Status s = to_host(stream_, arguments.outputs[i], grow(p.on_device), p.bytes)) return s;
    }
    return enqueue_status();
  }

  const Unit& unit_;
  DeviceOptions options_;
  Stream stream_ = nullptr;
  void *stay_ = nullptr, *grow_ = nullptr, *staging_ = nullptr, *status_ = nullptr, *host_arena_ = nullptr;
  std::size_t words_at_ = 0, grow_bytes_ = 0, staging_bytes_ = 0, host_arena_bytes_ = 0;
  bool once_ = false;
  std::byte* callers_host_arena_ = nullptr;
  std::unique_ptr<void*[]> pointers_;
  std::unique_ptr<std::size_t[]> bytes_;
  Sizes sizes_[kGraphs];
  uint64_t time_ = 0;
};

}  // namespace onnxc::gpu
