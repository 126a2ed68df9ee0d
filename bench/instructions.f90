! SPDX-License-Identifier: BSD-3-Clause
! Driver for counting what the bindings add to a C call: instructions_fortran.sh runs it under callgrind. A single rank
! sends to itself, by the binding that the argument names: mpi or mpi_f08; or mpi_f08 with an element of an array as
! buffer, and with ierror.
module by_mpi
  use mpi
  implicit none
contains
  subroutine old(n)
    integer, intent(in) :: n
    integer, asynchronous :: buffer(4)
    integer :: requests(n), k, ierror
    do k = 1, n
      call MPI_Irecv(buffer, 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(k), ierror)
    end do
    do k = 1, n
      call MPI_Send(buffer, 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE, ierror)
    do k = 1, n
      call MPI_Isend(buffer, 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(k), ierror)
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine
end module

module by_mpi_f08
  use mpi_f08
  implicit none
contains
  subroutine new(n)
    integer, intent(in) :: n
    integer, asynchronous :: buffer(4)
    type(MPI_Request) :: requests(n)
    integer :: k
    do k = 1, n
      call MPI_Irecv(buffer, 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(k))
    end do
    do k = 1, n
      call MPI_Send(buffer, 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD)
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE)
    do k = 1, n
      call MPI_Isend(buffer, 0, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, requests(k))
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine elements(n)
    integer, intent(in) :: n
    integer, asynchronous :: buffer(4)
    type(MPI_Request) :: requests(n)
    integer :: k, ierror
    do k = 1, n
      call MPI_Irecv(buffer(2), 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, requests(k), ierror)
    end do
    do k = 1, n
      call MPI_Send(buffer(2), 0, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine
end module

program main
  use by_mpi
  use by_mpi_f08, only: new, elements
  implicit none
  integer, parameter :: calls = 1000
  integer :: provided, ierror
  character(len=16) :: binding
  call get_command_argument(1, binding)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  if (binding == 'mpi') call old(calls)
  if (binding == 'mpi_f08') call new(calls)
  if (binding == 'mpi_f08_element') call elements(calls)
  print '(a, i0)', 'calls=', calls
  call MPI_Finalize(ierror)
end program
