#include "tools/onnxc/lost_pages.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

#include "compiler/support/error.h"
#include "compiler/support/mapped_file.h"
#include "tools/driver/leftovers.h"
#include "tools/onnxc/warden.h"

namespace onnxc {
namespace {

constinit std::array<char, 512> asked_model = {};

/// The instruction that has read the page holds no lock and is in no function of the system, so functions are safe to call that a handler
/// of other signals may not call.
void on_lost_page(int signal, siginfo_t* info, void*) {
  const char* const file = mapped_file_at(info->si_addr);
  if (file == nullptr) {  // a bug
    std::signal(signal, SIG_DFL);
    return;
  }
  end_watch();
  abandon();
  for (const char* text : {"onnxc: error[E0602]: ", static_cast<const char*>(asked_model.data()), ": ", file,
                           " cannot be read: it has become shorter meanwhile, or its disk fails\n"}) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  _exit(3);
}

}  // namespace

void expect_lost_pages(const std::string& model) {
  const std::string name = one_line(model);
  std::strncpy(asked_model.data(), name.c_str(), asked_model.size() - 1);
  struct sigaction action{};
  action.sa_sigaction = on_lost_page;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace onnxc
