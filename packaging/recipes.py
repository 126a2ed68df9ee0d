#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""recipes.py [--tools FOLDER] [--installed PREFIX]: checks the recipes for other package managers, as far as this machine can.

All recipes name the version of CMakeLists.txt, options of it, packages of tools/debian-packages.txt, and existing files. With
--tools, EasyBuild's own parser, from PyPI, reads its recipe in an environment in FOLDER. With --installed, Lmod loads the module
files of an installation, if Lmod is installed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent
EASYBUILD = ("easybuild-framework==5.4.1", "easybuild-easyblocks==5.4.1")
TARGET = "product"
LMOD = pathlib.Path("/usr/share/lmod/lmod/libexec/lmod")


def fail(text):
    sys.exit(f"recipes.py: {text}")


def version():
    return re.search(r"project\(heddle VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]


def options_exist(where, text):
    """Fails unless the recipe's -DHEDDLE_...=... are options of CMakeLists.txt."""
    known = set(re.findall(r"^(?:option|set)\((HEDDLE_\w+)", (SOURCE / "CMakeLists.txt").read_text(), re.M))
    used = set(re.findall(r"HEDDLE_(?:TESTS|BENCH|FORTRAN|PORTABLE|WERROR)\b|(?<=-D)HEDDLE_\w+", text))
    if not used or used - known:
        fail(f"{where} has options {sorted(used)}, known are {sorted(known)}")


class Recorder:
    """A stand-in for spack.package that records the directives of a recipe."""

    def __init__(self):
        self.said = []

    def module(self):
        module = types.ModuleType("spack.package")

        def directive(name):
            def record(*words, **more):
                self.said.append((name, words, more))
            return record
        names = ["version", "variant", "depends_on", "provides", "conflicts", "license", "generator"]
        for name in names:
            setattr(module, name, directive(name))

        class CMakePackage:
            def define(self, name, value):
                return f"-D{name}={'ON' if value else 'OFF'}"

            def define_from_variant(self, name, variant):
                return f"-D{name}={variant}"
        module.CMakePackage = CMakePackage
        module.join_path = lambda *parts: "/".join(map(str, parts))
        module.__all__ = [*names, "CMakePackage", "join_path"]
        return module


def check_spack(wanted):
    recorder = Recorder()
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = recorder.module()
    path = HERE / "spack/heddle/package.py"
    scope = {"__name__": "heddle"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    said = recorder.said
    if [words[0] for name, words, _ in said if name == "version"] != [wanted]:
        fail(f"{path} has another version than {wanted}")
    package = scope["Heddle"]
    options_exist(path, " ".join(package.cmake_args(package())))
    if package.build_targets != [TARGET] or not any(name == "provides" for name, _, _ in said):
        fail(f"{path} builds or provides something else")
    variants = {words[0] for name, words, _ in said if name == "variant"}
    for _, words, more in said:
        for used in re.findall(r"\+(\w+)", more.get("when", "")):
            if used not in variants:
                fail(f"{path}: {words} is when +{used}, which is no variant")


def check_easybuild(wanted, tools):
    path = next((HERE / "easybuild").glob("*.eb"))
    said = {}
    exec(compile(path.read_text(), str(path), "exec"), {}, said)
    chain = f"{said['toolchain']['name']}-{said['toolchain']['version']}"
    if said["version"] != wanted or path.name != f"Heddle-{wanted}-{chain}.eb":
        fail(f"{path} has another version than {wanted}, or another name")
    options_exist(path, said["configopts"])
    if said["sources"][0] % {"version": wanted} != f"heddle-{wanted}.tar.gz" or said["build_cmd_targets"] != TARGET:
        fail(f"{path} builds something else")
    if tools is None:
        return
    if not LMOD.exists():
        fail("EasyBuild needs Lmod (Debian: lmod)")
    python = tools / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", tools / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *EASYBUILD], check=True)
    parse = """
import sys
from easybuild.tools.options import set_up_configuration
set_up_configuration(args=['--prefix', sys.argv[2], '--allow-use-as-root-and-accept-consequences'], silent=True)
from easybuild.framework.easyconfig.easyconfig import EasyConfig
recipe = EasyConfig(sys.argv[1], validate=False)
print(recipe.name, recipe.version)
"""
    done = subprocess.run([python, "-c", parse, path, tools / "easybuild"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "LMOD_CMD": str(LMOD)})
    if done.returncode != 0 or f"Heddle {wanted}" not in done.stdout:
        fail(f"EasyBuild does not read {path}:\n{done.stdout}")
    print(f"recipes.py: EasyBuild reads {path.name}")


def check_conda(wanted):
    path = HERE / "conda/meta.yaml"
    text = path.read_text()
    if f'{{% set version = "{wanted}" %}}' not in text:
        fail(f"{path} has another version than {wanted}")
    options_exist(path, text)
    if f"--target {TARGET}" not in text:
        fail(f"{path} builds something else")
    for file in re.findall(r"^    - (\.\./\.\./\S+)$", text, re.M):
        if not (path.parent / file).exists():
            fail(f"{path} names {file}, which is not there")


def check_containers():
    known = {line.split()[0] for line in (SOURCE / "tools/debian-packages.txt").read_text().splitlines() if line and line[0] != "#"}
    known |= {"git", "make", "ca-certificates", "binutils", "libhwloc15", "libfabric1"}  # and what libraries' headers bring
    for path in (HERE / "container/Containerfile", HERE / "container/heddle.def"):
        for command in re.findall(r"--no-install-recommends ([^&\\\n]*)", path.read_text()):
            if set(command.split()) - known:
                fail(f"{path} installs {sorted(set(command.split()) - known)}")
        for example in re.findall(r"examples/(\S+\.c)", path.read_text()):
            if not (SOURCE / "examples" / example).exists():
                fail(f"{path} compiles {example}, which is not there")


def check_modules(prefix, wanted):
    folder = prefix / "share/heddle/modules"
    for kind in ("", ".lua"):
        if not (folder / f"heddle/{wanted}{kind}").exists():
            fail(f"{folder} has no module file heddle/{wanted}{kind}")
    lua = shutil.which("lua5.3") or shutil.which("lua5.4") or shutil.which("lua")
    if not LMOD.exists() or lua is None:
        print("recipes.py: module files were not loaded: there is no Lmod")
        return
    for kind in ("", ".lua"):
        only = prefix.parent / f"modules{kind or '.tcl'}"
        shutil.rmtree(only, ignore_errors=True)
        # Each kind is copied alone: Lmod would take Lua's first.
        (only / "share/heddle/modules/heddle").mkdir(parents=True)
        shutil.copy(folder / f"heddle/{wanted}{kind}", only / "share/heddle/modules/heddle")
        done = subprocess.run([lua, LMOD, "bash", "load", f"heddle/{wanted}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={"MODULEPATH": str(only / "share/heddle/modules"), "PATH": "/usr/bin:/bin", "HOME": str(only),
                                   "LMOD_IGNORE_CACHE": "yes"})
        for what in (f"{only}/bin", f"{only}/lib/pkgconfig"):
            if f"{what}:" not in done.stdout and f"{what}\"" not in done.stdout and f"{what};" not in done.stdout:
                fail(f"the module file {wanted}{kind} does not add {what}:\n{done.stdout}{done.stderr}")
        shutil.rmtree(only)
    print("recipes.py: Lmod loads both module files")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path)
    parser.add_argument("--installed", type=pathlib.Path)
    wanted = parser.parse_args()
    check_spack(version())
    check_easybuild(version(), wanted.tools and wanted.tools.resolve())
    check_conda(version())
    check_containers()
    if wanted.installed:
        check_modules(wanted.installed.resolve(), version())
    print("recipes.py: the recipes agree with the sources")


if __name__ == "__main__":
    main()
