# SPDX-License-Identifier: Apache-2.0
# The one list of Debian and Ubuntu packages, by what needs them. Sourced by run.sh, test.sh and tests/bare_root.sh.
# shellcheck shell=bash disable=SC2034

# What `dsa` and the window are built from, and what the window needs to draw without a display.
dsa_build_packages=(
  g++ cmake ninja-build pkg-config
  qt6-base-dev qt6-svg-dev qt6-tools-dev qt6-tools-dev-tools qt6-l10n-tools libqcustomplot-dev qt6-qpa-plugins fonts-noto-core
  libfmt-dev libcli11-dev nlohmann-json3-dev libexpected-dev
  libsqlitecpp-dev libsqlite3-dev libarchive-dev libxxhash-dev libssl-dev liburing-dev
  ca-certificates
)

# What the tests add. git is not among them: outside a checkout the checks look at every file of the tree.
dsa_test_packages=(librapidcheck-dev binutils xz-utils python3 util-linux desktop-file-utils appstream)

# What the full ./test.sh adds. By version, since another clang-format breaks lines elsewhere; both systems have 14.
dsa_lint_packages=(clang-format-14 clang-tidy-14)

# What cpack needs to name the libraries that a .deb depends on (installers/README.md).
dsa_package_packages=(dpkg-dev)

# What tests/bare_root.sh needs on the machine that makes the root.
dsa_root_packages=(debootstrap)

# Where there is no apt: commands and headers that stand for the packages above.
dsa_build_commands=(g++ cmake ninja pkg-config)
dsa_build_headers=(
  fmt/format.h CLI/CLI.hpp nlohmann/json.hpp tl/expected.hpp SQLiteCpp/SQLiteCpp.h sqlite3.h archive.h xxhash.h openssl/evp.h
  liburing.h
)
