// A value that one thread gives and a coroutine waits for.
#pragma once
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace onnxc::serving {

/// Waits in a coroutine for what another thread gives once.
template <class T>
class Later {
 public:
  /// From any thread; the coroutine goes on in `executor`.
  template <class Executor>
  void give(const Executor& executor, T value) {
    std::function<void()> resume;
    {
      const std::lock_guard lock(mutex_);
      value_ = std::move(value);
      resume = std::move(resume_);
    }
    if (resume) boost::asio::post(executor, std::move(resume));
  }
  boost::asio::awaitable<T> get() {
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
        [this](auto handler) {
          // A handler is moved, not copied, and std::function copies.
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          const std::unique_lock lock(mutex_);
          resume_ = [shared] { std::move (*shared)(); };
          if (value_) boost::asio::post(boost::asio::get_associated_executor(*shared), std::exchange(resume_, {}));
        },
        boost::asio::use_awaitable);
    co_return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
  std::function<void()> resume_;
};

}  // namespace onnxc::serving
