#include "serving/log.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace onnxc::serving {

void log(LogLevel level, std::string_view event, std::initializer_list<std::pair<std::string_view, std::string>> members) {
  if (level > log_level()) return;
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis = static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> date{}, time{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(time.data(), time.size(), ".%03dZ", millis);
  std::string line = std::string("{\"time\":\"") + date.data() + time.data() + "\",\"level\":\"" +
                     (level == LogLevel::Errors ? "error" : "info") + "\",\"event\":\"";
  line += event;
  line += '"';
  for (const auto& [name, value] : members) (((line += ",\"") += name) += "\":") += value;
  line += "}\n";
  // One call, so that lines of several threads do not mix.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace onnxc::serving
