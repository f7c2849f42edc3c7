# SPDX-License-Identifier: Apache-2.0
# CPack's settings for the Debian package: cpack --config BUILD/CPackConfig.cmake -G DEB
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dsa-lab)
set(CPACK_PACKAGE_VENDOR "DSA Lab developers")
set(CPACK_PACKAGE_CONTACT "DSA Lab developers <dsa-lab@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "embedding tables that are trained on disk, and what that costs")
set(CPACK_PACKAGE_DESCRIPTION
"Large embedding tables run out of memory because Adam keeps two moments for
each parameter, while a batch touches a small part of the rows. DSA Lab keeps
weights and moments in memory-mapped files on an NVMe disk, brings in only
the rows of the batch, and measures private memory, page cache, page faults,
disk traffic and time apart.

One seed gives one table, bit for bit: in memory or on disk, on one thread or
on many. A killed run is resumed to the bits of the undisturbed one.

dsa is the runner; it needs no display.")
# Beside the programs: the folder that cpack is called in is often the checkout, where nothing may be left behind.
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
# Folders are 755 whatever the umask of whoever packs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What the programs link. The CUDA driver is not among it: the runtime is static and looks for the driver when it runs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(TARGET dsa-lab)
  string(APPEND CPACK_PACKAGE_DESCRIPTION
" dsa-lab is the window over it:
it plans a run, shows it live, keeps the record and compares two runs.")
  # Plugins that nothing links.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS qt6-qpa-plugins)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland, qt6-translations-l10n")
endif()
include(CPack)
