# SPDX-License-Identifier: BSD-3-Clause
#
# The parts of the product that this build leaves out, with reasons. One line says it: when the build is configured, at the
# end of an installation, and in `heddle info`.

# Sets `variable` to the name of the package that brings `need` (libfabric, fortran) on this distribution. It is empty if the
# distribution is not known.
function(heddle_package_for need variable)
  set(apt_libfabric "apt-get install libfabric-dev")
  set(apt_fortran "apt-get install gfortran")
  set(dnf_libfabric "dnf install libfabric-devel")
  set(dnf_fortran "dnf install gcc-gfortran")
  set(zypper_libfabric "zypper install libfabric-devel")
  set(zypper_fortran "zypper install gcc-fortran")
  set(pacman_libfabric "pacman -S libfabric")
  set(pacman_fortran "pacman -S gcc-fortran")
  set(apk_libfabric "apk add libfabric-dev")
  set(apk_fortran "apk add gfortran")
  set(release "${HEDDLE_OS_RELEASE}")
  set(words "")
  if(EXISTS "${release}")
    file(STRINGS "${release}" words REGEX "^ID(_LIKE)?=")
  endif()
  set(${variable} "" PARENT_SCOPE)
  foreach(family "debian|ubuntu:apt" "fedora|rhel|centos:dnf" "suse:zypper" "arch:pacman" "alpine:apk")
    string(REGEX REPLACE ":.*" "" names "${family}")
    string(REGEX REPLACE ".*:" "" manager "${family}")
    if("${words}" MATCHES "${names}")
      set(${variable} "${${manager}_${need}}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

set(HEDDLE_OS_RELEASE /etc/os-release CACHE FILEPATH "Names the distribution")
mark_as_advanced(HEDDLE_OS_RELEASE)
set_property(GLOBAL PROPERTY heddle_left_out "")

# heddle_left_out(PART REASON NEED): records that PART is not built because of REASON. NEED is empty, or the thing for which
# the distribution has a package.
function(heddle_left_out part reason need)
  set(sentence "${part} (${reason}")
  if(need)
    heddle_package_for(${need} package)
    if(package)
      string(APPEND sentence ": ${package}")
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY heddle_left_out "${sentence})")
endfunction()

# Writes the line into a file for installations, and into a header for `heddle`.
function(heddle_write_left_out)
  get_property(parts GLOBAL PROPERTY heddle_left_out)
  if(parts)
    list(JOIN parts ", " text)
    set(text "left out: ${text}")
  else()
    set(text "nothing is left out: the network between hosts and Fortran are part of it")
  endif()
  message(STATUS "Heddle: ${text}")
  set(folder ${PROJECT_BINARY_DIR}/left_out)
  file(CONFIGURE OUTPUT ${folder}/left_out.txt CONTENT "Heddle ${PROJECT_VERSION}: ${text}\n" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/left_out.hpp CONTENT
    "#define HEDDLE_LEFT_OUT R\"(${text})\"\n" @ONLY)
  set(heddle_left_out_file ${folder}/left_out.txt PARENT_SCOPE)
  set(heddle_left_out_folder ${folder} PARENT_SCOPE)
endfunction()
