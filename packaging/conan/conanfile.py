"""The Conan package of libdenise, from the binary tarballs: nobody who uses it needs Rust.

The tarballs lie in the folder above this one, as `make dist` leaves them, and become part of the recipe.
"""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import check_sha256, copy, unzip


class Denise(ConanFile):
    name = "denise"
    version = "@VERSION@"
    description = "Splits covariance matrices into a low-rank and a sparse part in microseconds"
    license = "MIT OR Apache-2.0"
    topics = ("covariance", "robust-pca", "finance")
    package_type = "library"
    # A C interface: one binary for every compiler and build type.
    settings = "os", "arch"
    options = {"shared": [True, False]}
    default_options = {"shared": True}

    def validate(self):
        if self.settings.os != "Linux" or str(self.settings.arch) not in self.conan_data["tarballs"]:
            raise ConanInvalidConfiguration("libdenise has binaries for Linux on x86_64 and armv8")

    def export_sources(self):
        for tarball in self.conan_data["tarballs"].values():
            copy(self, tarball["name"], os.path.dirname(self.recipe_folder), self.export_sources_folder)

    def build(self):
        tarball = self.conan_data["tarballs"][str(self.settings.arch)]
        archive = os.path.join(self.export_sources_folder, tarball["name"])
        check_sha256(self, archive, tarball["sha256"])
        unzip(self, archive, self.build_folder, strip_root=True)

    def package(self):
        def take(pattern, folder):
            copy(self, pattern, os.path.join(self.build_folder, folder), os.path.join(self.package_folder, folder))

        take("*", "include")
        take("libdenise.so*" if self.options.shared else "libdenise.a", "lib")
        copy(self, "*", os.path.join(self.build_folder, "share/doc/denise"),
             os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["denise"]
        if not self.options.shared:
            self.cpp_info.system_libs = ["m", "pthread", "dl"]
        self.cpp_info.set_property("cmake_file_name", "denise")
        self.cpp_info.set_property("cmake_target_name", "denise::denise")
        self.cpp_info.set_property("pkg_config_name", "denise")
