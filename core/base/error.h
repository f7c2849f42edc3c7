// SPDX-License-Identifier: Apache-2.0
// The one error type: a code that fixes the exit code, and a sentence for the user.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace dsa {

/// What kind of failure; each is one exit code of `dsa` (design.md section 7).
enum class ErrorCode {
  bug = 1,      ///< a fault of this program
  usage = 2,    ///< wrong usage: unknown flag, impossible value
  input = 3,    ///< bad input: unknown dataset, damaged or foreign file
  machine = 4,  ///< the machine: disk full, memory, locked, no device, no permission
  stopped = 5,  ///< stopped by the user; resumable
};

/// A failure from outside (files, SQLite, CUDA, input). The message names the thing, the value and the limit:
/// what happened, what is safe, what to do.
struct Error {
  ErrorCode code = ErrorCode::bug;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Makes the failed state of any Result: `return fail(ErrorCode::input, "{}: 2 fields, expected 3", path);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

[[nodiscard]] inline int exitCode(const Error& error) { return static_cast<int>(error.code); }

/// A bug: prints file, line and the claim that was false, then aborts.
[[noreturn]] void bugAt(const char* file, int line, const char* claim);

}  // namespace dsa

/// Propagates a failed Result<T> out of a function that returns a Result of any type.
#define DSA_TRY(expression)                                                 \
  do {                                                                      \
    if (auto dsaTryResult = (expression); !dsaTryResult) {                  \
      return tl::unexpected<::dsa::Error>(std::move(dsaTryResult).error()); \
    }                                                                       \
  } while (false)

#define DSA_CONCAT_INNER(a, b) a##b
#define DSA_CONCAT(a, b) DSA_CONCAT_INNER(a, b)

/// `DSA_ASSIGN(auto file, File::open(path));` declares or assigns the value, or propagates the error.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration cannot stand in parentheses
#define DSA_ASSIGN(declaration, expression) DSA_ASSIGN_INNER(declaration, expression, DSA_CONCAT(dsaAssign, __LINE__))
#define DSA_ASSIGN_INNER(declaration, expression, temporary)                         \
  auto temporary = (expression);                                                     \
  if (!temporary) return tl::unexpected<::dsa::Error>(std::move(temporary).error()); \
  declaration = std::move(*temporary)
// NOLINTEND(bugprone-macro-parentheses)

/// A claim that only a bug can break; checked in every build.
#define DSA_CHECK(claim) ((claim) ? void(0) : ::dsa::bugAt(__FILE__, __LINE__, #claim))
