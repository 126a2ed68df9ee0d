#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# mpifort_test.sh PREFIX SCRATCH [OTHER COMPILER]: tests mpifort of an installation: its habits, the three bindings, errors,
# and modules for another compiler.
set -eu
prefix=$1
scratch=$2
other=${3:-}
tests=$(cd "$(dirname "$0")" && pwd)
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
unset HEDDLE_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
mpifort=$prefix/bin/mpifort
mpiexec=$prefix/bin/mpiexec

fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# has TEXT WORD: the word is in the text.
has() {
    case " $1 " in *" $2 "*) ;; *) fail "'$2' is not in '$1'" ;; esac
}

# ---- Habits ----

has "$("$mpifort" -showme:libs)" mpifort_abi
has "$("$mpifort" -showme:libs)" mpi_abi
has "$("$mpifort" -link-info)" -lmpifort_abi
has "$("$mpifort" -show a.f90)" a.f90
"$mpifort" -compile-info | grep -q -e "-I" || fail "no include directory"
"$mpifort" -help | grep -q HEDDLE_FC || fail "the help does not name HEDDLE_FC"
"$mpifort" -showme:version | grep -q 'MPI 5.0' || fail "no version"
for name in mpif77 mpif90; do
    [ "$("$prefix/bin/$name" -showme:libs)" = "$("$mpifort" -showme:libs)" ] || fail "$name is another"
done
case $("$mpifort" -show -c a.f90) in *-lmpi_abi*) fail "-c links" ;; esac

# ---- Programs ----

cat >f08.f90 <<'END'
program f08
  use mpi_f08
  integer :: n, bytes
  call MPI_Init()
  call MPI_Allreduce(1, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Sizeof([1d0, 2d0], bytes)
  if (bytes /= 8) error stop
  print '(a, i0)', 'f08 ', n
  call MPI_Finalize()
end program
END
cat >mpi.f90 <<'END'
program with_mpi
  use mpi
  integer :: n, ierror, bytes
  call MPI_Init(ierror)
  call MPI_Allreduce(1, n, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Sizeof((1.0, 2.0), bytes, ierror)
  if (bytes /= 8) error stop
  print '(a, i0)', 'mpi ', n
  call MPI_Finalize(ierror)
end program
END
cat >fixed.f <<'END'
      program fixed
      include 'mpif.h'
      integer n, ierror
      double precision x
      call MPI_INIT(ierror)
      call MPI_ALLREDUCE(1, n, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierror)
      call MPI_ALLREDUCE(1d0, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &  MPI_COMM_WORLD, ierror)
      print '(a, i0)', 'mpif ', int(x)
      call MPI_FINALIZE(ierror)
      end
END
# Wrong calls: on the short path, with a section, of a routine without buffer, for large counts, and in fixed form.
cat >wrong.f90 <<'END'
program wrong
  use mpi_f08
  character(len=8) :: which
  integer :: a(10)
  type(MPI_Datatype) :: datatype
  call get_command_argument(1, which)
  call MPI_Init()
  select case (which)
  case ('short'); call MPI_Send(a, -5, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
  case ('section')
    call MPI_Type_dup(MPI_INTEGER, datatype)
    datatype%MPI_VAL = datatype%MPI_VAL + 1
    call MPI_Send(a(::2), 5, datatype, 0, 0, MPI_COMM_WORLD)
  case ('name'); call MPI_Comm_set_name(MPI_COMM_NULL, 'none')
  case ('large'); call MPI_Recv(a, -5_MPI_COUNT_KIND, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end select
end program
END
cat >wrong_fixed.f <<'END'
      include 'mpif.h'
      integer ierror
      call MPI_INIT(ierror)
      call MPI_BCAST(ierror, 1, MPI_INTEGER, 9, MPI_COMM_WORLD, ierror)
      end
END

# run PROGRAM WORDS: runs the program on two ranks, which must print the words twice.
run() {
    [ "$("$mpiexec" -n 2 "./$1" | grep -c "^$2\$")" = 2 ] || fail "$1 does not say '$2' twice"
}
# all_three: builds and runs three programs, with the compiler that HEDDLE_FC names, or the usual one.
all_three() {
    for source in f08.f90 mpi.f90 fixed.f; do
        "$mpifort" -w "$source" -o "${source%.*}" 2>messages || { cat messages >&2; fail "$source"; }
    done
    run f08 'f08 2'
    run mpi 'mpi 2'
    run fixed 'mpif 2'
}
all_three

# An error names the routine of Fortran, whatever function the bindings have called for it.
# names ROUTINE PROGRAM ARGUMENT
names() {
    if "$mpiexec" -n 1 "./$2" "$3" >messages 2>&1; then fail "$2 $3 is no error"; fi
    grep -q "$1 (Fortran)" messages || { cat messages >&2; fail "the error of $2 $3 does not name $1"; }
}
"$mpifort" wrong.f90 -o wrong
"$mpifort" -w wrong_fixed.f -o wrong_fixed
names MPI_SEND wrong short
names MPI_SEND wrong section
names MPI_COMM_SET_NAME wrong name
names MPI_RECV wrong large
names MPI_BCAST wrong_fixed ''

# ---- Another compiler ----

if [ -z "$other" ]; then
    echo "no second compiler"
    exit 0
fi
rm -f ./*.mod f08 mpi fixed
# Remove the modules that an earlier run has made in the same installation.
find "$prefix" -depth -type d -path "*/heddle/fortran/$(basename "$other" | sed 's/-.*//')-*" -exec rm -r {} +
HEDDLE_FC=$other "$mpifort" -c f08.f90 >messages 2>&1 && fail "modules of another compiler are used"
grep -q 'heddle fortran --compiler' messages || fail "nothing says how to make the modules"
"$prefix/bin/heddle" fortran --compiler "$other"
HEDDLE_FC=$other all_three
"$mpifort" "-fc=$other" f08.f90 -o f08 2>messages || { cat messages >&2; fail "-fc=$other"; }
run f08 'f08 2'
# Array sections: compilers differ in the descriptors of these.
HEDDLE_FC=$other "$mpifort" "$tests/check.f90" "$tests/sections.f90" -o sections >messages 2>&1 ||
    { cat messages >&2; fail "sections.f90"; }
"$mpiexec" -n 2 ./sections || fail "array sections of $other"
case $(HEDDLE_FC=$other "$mpifort" -show a.f90) in
    *-fallow-argument-mismatch*) fail "an option of gfortran for another compiler" ;;
esac
"$prefix/bin/heddle" fortran --compiler "$other" --output "$scratch/modules"
[ -e "$scratch/modules/mpi_f08.mod" ] || fail "no modules in a folder of choice"
if "$prefix/bin/heddle" fortran --compiler false >messages 2>&1; then fail "false is no compiler"; fi
