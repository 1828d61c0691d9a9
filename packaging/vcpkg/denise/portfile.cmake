# libdenise from its binary tarballs, so that nobody needs Rust. They lie two folders above this one, as `make dist`
# leaves them.
set(sha512_x64 @SHA512_x86_64@)
set(sha512_arm64 @SHA512_aarch64@)
set(machine_x64 x86_64)
set(machine_arm64 aarch64)

set(name "libdenise-@VERSION@-linux-${machine_${VCPKG_TARGET_ARCHITECTURE}}.tar.gz")
get_filename_component(archive "${CMAKE_CURRENT_LIST_DIR}/../../${name}" ABSOLUTE)
if(NOT EXISTS "${archive}")
  message(FATAL_ERROR "${archive} is not there: keep this port beside the tarballs")
endif()
file(SHA512 "${archive}" found)
if(NOT found STREQUAL "${sha512_${VCPKG_TARGET_ARCHITECTURE}}")
  message(FATAL_ERROR "${archive} is not the tarball that this port was made for: its SHA-512 is ${found}")
endif()
vcpkg_extract_source_archive(tree ARCHIVE "${archive}")

# The library has no debug build; denise::denise is the shared one and denise::static the other, whatever the triplet.
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)
file(INSTALL "${tree}/include" DESTINATION "${CURRENT_PACKAGES_DIR}")
file(INSTALL "${tree}/lib" DESTINATION "${CURRENT_PACKAGES_DIR}" PATTERN cmake EXCLUDE)
file(INSTALL "${tree}/bin/denise" DESTINATION "${CURRENT_PACKAGES_DIR}/tools/${PORT}" USE_SOURCE_PERMISSIONS)
# One folder less deep than in the tarball.
foreach(file denise-config.cmake denise-config-version.cmake)
  file(READ "${tree}/lib/cmake/denise/${file}" text)
  string(REPLACE "/../../..\"" "/../..\"" text "${text}")
  file(WRITE "${CURRENT_PACKAGES_DIR}/share/${PORT}/${file}" "${text}")
endforeach()
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST
  "${tree}/share/doc/denise/LICENSE-MIT"
  "${tree}/share/doc/denise/LICENSE-APACHE"
  "${tree}/share/doc/denise/THIRD-PARTY.txt")
