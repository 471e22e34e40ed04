#include "net/error_text.h"

#include <openssl/err.h>

#include <asio/error.hpp>
#include <asio/ssl/error.hpp>
#include <cstring>

#include "base/status.h"

namespace symm::net {

std::string error_text(std::error_code error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return "the other side closed the connection";
  }
  if (&error.category() == &asio::error::get_ssl_category()) {
    const char* reason = ERR_reason_error_string(static_cast<unsigned long>(error.value()));
    return reason != nullptr ? reason : fmt::format("TLS error {:#x}", error.value());
  }
  char buffer[128];
  return strerror_r(error.value(), buffer, sizeof buffer);
}

}  // namespace symm::net
