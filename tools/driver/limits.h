// Limits of time and memory are for compiling. What a unit takes that runs in this process, or in an emulator, is up to its caller, and so is a search, which has a
// limit of its own.
#pragma once
#include <atomic>

namespace onnxc {

inline std::atomic<bool> limits_hold = true;

/// For good: a command that has run a unit may run another at any time.
inline void lift_limits() { limits_hold = false; }

/// Set by a command that ends well once it is asked to, as a search that keeps the best so far: a first SIGINT or SIGTERM makes this true, and only another ends the
/// process. Null: the first ends it.
inline std::atomic<std::atomic<bool>*> asked_to_end = nullptr;

/// Set by a command that looks anew at its files when a SIGHUP comes, which makes this true. Null: it ends the process.
inline std::atomic<std::atomic<bool>*> asked_to_reload = nullptr;

}  // namespace onnxc
