#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# must_not_compile.sh PREFIX SCRATCH: compiles calls with arguments of wrong types, which the modules must refuse. Beside
# each is the same call with right ones, which they must take.
set -eu
mpifort=$1/bin/mpifort
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
failures=0

# compiles MODULE STATEMENT: compiles a program of one statement; the names that it may use are declared.
compiles() {
    if [ "$1" = mpi_f08 ]; then
        handles='type(MPI_Comm) :: comm; type(MPI_Datatype) :: datatype; type(MPI_Request) :: request, requests(4)
            type(MPI_Op) :: op; type(MPI_Status) :: status, statuses(4); type(MPI_Win) :: win'
    else
        handles='integer :: comm, datatype, request, requests(4), op, win
            integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE,4)'
    fi
    cat >"$scratch/program.f90" <<END
program one_statement
  use $1
  implicit none
  $handles
  integer :: buffer(4), n, m, list(4)
  integer(MPI_COUNT_KIND) :: large
  integer(MPI_ADDRESS_KIND) :: address
  real :: x
  logical :: flag
  character(len=8) :: text
  $2
contains
  subroutine good(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
  end subroutine
  subroutine bad(len)
    integer :: len
  end subroutine
end program
END
    [ "$1" = mpi_f08 ] || sed -i '/^contains/,/^end program/{/^end program/!d}' "$scratch/program.f90"
    "$mpifort" -fsyntax-only "$scratch/program.f90" >"$scratch/messages" 2>&1
}

# pair MODULE RIGHT WRONG
pair() {
    if ! compiles "$1" "$2"; then
        echo "FAILED: $1 refuses: $2" >&2
        cat "$scratch/messages" >&2
        failures=$((failures + 1))
    fi
    if compiles "$1" "$3"; then
        echo "FAILED: $1 takes: $3" >&2
        failures=$((failures + 1))
    fi
}

pair mpi_f08 'call MPI_Send(buffer, 4, MPI_INTEGER, 0, 0, comm)' 'call MPI_Send(buffer, 4, MPI_INTEGER, 0, 0, 257)'
pair mpi_f08 'call MPI_Send(buffer, 4, datatype, 0, 0, comm)' 'call MPI_Send(buffer, 4, comm, 0, 0, datatype)'
pair mpi_f08 'call MPI_Send(buffer, large, datatype, 0, 0, comm)' 'call MPI_Send(buffer, x, datatype, 0, 0, comm)'
pair mpi_f08 'call MPI_Send(x, 1, datatype, 0, 0, comm, n)' 'call MPI_Send(x, 1, datatype, 0, comm, n)'
pair mpi_f08 'call MPI_Recv(x, 1, datatype, 0, 0, comm, status)' 'call MPI_Recv(x, 1, datatype, 0, 0, comm, list)'
pair mpi_f08 'call MPI_Recv(x, 1, datatype, 0, 0, comm, MPI_STATUS_IGNORE)' \
    'call MPI_Recv(x, 1, datatype, 0, 0, comm, MPI_STATUSES_IGNORE)'
pair mpi_f08 'call MPI_Test(request, flag, status)' 'call MPI_Test(request, n, status)'
pair mpi_f08 'call MPI_Waitall(4, requests, statuses)' 'call MPI_Waitall(4, requests, status)'
pair mpi_f08 'call MPI_Comm_rank(comm, n)' 'call MPI_Comm_rank(comm, x)'
pair mpi_f08 'call MPI_Comm_rank(comm, n)' 'call MPI_Comm_rank(MPI_INTEGER, n)'
pair mpi_f08 'call MPI_Comm_rank(comm, rank=n)' 'call MPI_Comm_rank(comm, rang=n)'
pair mpi_f08 'flag = comm == MPI_COMM_WORLD' 'flag = comm == MPI_INTEGER'
pair mpi_f08 'flag = request /= MPI_REQUEST_NULL' 'flag = request /= 0'
pair mpi_f08 'call MPI_Op_create(good, .true., op)' 'call MPI_Op_create(bad, .true., op)'
pair mpi_f08 'call MPI_Op_create(good, flag, op)' 'call MPI_Op_create(good, 1, op)'
pair mpi_f08 'call MPI_Comm_set_name(comm, text)' 'call MPI_Comm_set_name(comm, n)'
pair mpi_f08 'call MPI_Get_address(x, address)' 'call MPI_Get_address(x, n)'
pair mpi_f08 'call MPI_Cart_create(comm, 1, list, [flag], flag, comm)' \
    'call MPI_Cart_create(comm, 1, list, [1], flag, comm)'
pair mpi_f08 'call MPI_Win_fence(0, win)' 'call MPI_Win_fence(win, 0)'
pair mpi_f08 'n = status%MPI_TAG' 'n = status%MPI_internal(1)'
pair mpi 'call MPI_Send(x, 1, datatype, 0, 0, comm, n)' 'call MPI_Send(x, 1, datatype, 0, 0, comm)'
pair mpi 'call MPI_Send(x, 1, datatype, 0, 0, comm, n)' 'call MPI_Send(x, x, datatype, 0, 0, comm, n)'
pair mpi 'call MPI_Test(request, flag, status, n)' 'call MPI_Test(request, m, status, n)'
pair mpi 'call MPI_Send(flag, 1, datatype, 0, 0, comm, n)' 'call MPI_Send(flag, 1, datatype, 0, 0, flag, n)'

[ "$failures" -eq 0 ]
