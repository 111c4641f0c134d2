// A socket whose operations have a limit of time, and messages one of bytes.
#pragma once
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace onnxc::serving {

using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::strand<boost::asio::io_context::executor_type>>;

/// What Boost.Beast reads from and writes to. Once the time is over, operations end with operation_aborted, those under way and those that follow, until there is
/// a new limit; once the bytes are read, reading ends with message_size. The socket stays open, so that the client is told. (Beast's own stream closes it.)
/// All of it is for the socket's strand.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using executor_type = Socket::executor_type;

  explicit Stream(Socket socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {}
  Socket& socket() { return socket_; }
  executor_type get_executor() { return socket_.get_executor(); }

  void expires_after(std::chrono::milliseconds time) {
    is_over_ = false;
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), begun = ++limits_](boost::system::error_code error) {
      if (const auto self = weak.lock(); self && !error && begun == self->limits_) self->cancel();
    });
  }
  void expires_never() {
    is_over_ = false;
    ++limits_;
    timer_.cancel();
  }
  /// As if the time were over.
  void cancel() {
    is_over_ = true;
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }
  /// How many bytes may be read from now on.
  void limit_bytes(std::size_t bytes) { left_ = bytes; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_compose<Token, void(boost::system::error_code, std::size_t)>(
        [this, buffers, begins = true](auto& self, boost::system::error_code error = {}, std::size_t bytes = 0) mutable {
          if (!std::exchange(begins, false)) {
            left_ -= std::min(left_, bytes);
            return self.complete(error, bytes);
          }
          if (is_over_ || left_ == 0)
            return boost::asio::post(get_executor(), [self = std::move(self), over = is_over_]() mutable {
              self.complete(over ? boost::system::error_code(boost::asio::error::operation_aborted)
                                 : boost::system::error_code(boost::asio::error::message_size),
                            0);
            });
          socket_.async_read_some(buffers, std::move(self));
        },
        token, socket_);
  }
  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    return boost::asio::async_compose<Token, void(boost::system::error_code, std::size_t)>(
        [this, buffers, begins = true](auto& self, boost::system::error_code error = {}, std::size_t bytes = 0) mutable {
          if (!std::exchange(begins, false)) return self.complete(error, bytes);
          if (is_over_)
            return boost::asio::post(get_executor(),
                                     [self = std::move(self)]() mutable { self.complete(boost::asio::error::operation_aborted, 0); });
          socket_.async_write_some(buffers, std::move(self));
        },
        token, socket_);
  }

 private:
  Socket socket_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>, executor_type> timer_;
  int limits_ = 0;
  bool is_over_ = false;
  std::size_t left_ = 0;
};

}  // namespace onnxc::serving
