# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe for Heddle: copy this folder to packages/ of a repository of yours, or

    spack repo create mine && cp -r packaging/spack/heddle mine/packages/ && spack repo add mine
    spack dev-build heddle@0.1.0      # in the sources
"""

from spack.package import *


class Heddle(CMakePackage):
    """MPI for programs with threads: all of MPI 5.0, on the standard ABI."""

    homepage = "https://example.org/heddle"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("network", default=True, description="Connect hosts by libfabric")
    variant("fortran", default=True, description="Build the Fortran bindings")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("hwloc@2:", type=("build", "link", "run"))
    depends_on("libfabric@1.17:", type=("build", "link", "run"), when="+network")

    provides("mpi@:5.0")

    conflicts("%gcc@:11", msg="Heddle is C++20")
    conflicts("%clang@:15", msg="Heddle is C++20")

    generator("ninja")
    build_targets = ["product"]

    def cmake_args(self):
        return [
            self.define("HEDDLE_TESTS", False),
            self.define("HEDDLE_BENCH", False),
            self.define_from_variant("HEDDLE_FORTRAN", "fortran"),
        ]

    def setup_run_environment(self, env):
        env.set("MPICC", join_path(self.prefix.bin, "mpicc"))
        env.set("MPICXX", join_path(self.prefix.bin, "mpicxx"))
        if self.spec.satisfies("+fortran"):
            env.set("MPIF90", join_path(self.prefix.bin, "mpifort"))
        # The library loads hwloc and libfabric by name.
        for name in ("hwloc", "libfabric"):
            if name in self.spec:
                env.prepend_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = join_path(self.prefix.bin, "mpicc")
        self.spec.mpicxx = join_path(self.prefix.bin, "mpicxx")
        self.spec.mpifc = self.spec.mpif77 = join_path(self.prefix.bin, "mpifort")

    def setup_dependent_build_environment(self, env, dependent_spec):
        env.set("HEDDLE_CC", spack_cc)
        env.set("HEDDLE_CXX", spack_cxx)
        env.set("HEDDLE_FC", spack_fc)
