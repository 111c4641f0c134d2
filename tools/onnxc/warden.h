// A thread that waits until something ends this process from outside: SIGTERM, SIGINT, SIGHUP, or the limit of --timeout. Then the programs
// that were started end, temporary files are removed, and only then this process ends. A handler of signals could do little of that, as
// functions that take memory or locks are not for it.
#pragma once
#include <functional>

#include "compiler/support/error.h"

namespace onnxc {

/// Starts the thread, before any other. `seconds` of wall time are allowed from now on until limits are lifted (tools/driver/limits.h);
/// infinity: any time. `refuse` tells of an error and returns the exit status.
void start_warden(double seconds, std::function<int(const Error&)> refuse);

/// For the thread that ends the process with a result of its own: waits forever if the warden is ending it already.
void end_watch();

}  // namespace onnxc
