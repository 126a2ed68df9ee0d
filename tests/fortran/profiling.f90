! SPDX-License-Identifier: BSD-3-Clause
! Profiling names (MPI 5.0, 15.2 and 19.1.5): a tool takes the place of a routine of either binding, and calls the real
! one by its other name. A tool in C sees the calls of both.
module counts
  implicit none
  integer :: new_broadcasts = 0, old_ranks = 0
end module

! The tool for mpi_f08.
subroutine MPI_Bcast_f08ts(buffer, count, datatype, root, comm, ierror) bind(C, name='mpi_bcast_f08ts_')
  use mpi_f08, only: MPI_Datatype, MPI_Comm, PMPI_Bcast
  use counts
  implicit none
  type(*), dimension(..) :: buffer
  integer, intent(in) :: count, root
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  new_broadcasts = new_broadcasts + 1
  call PMPI_Bcast(buffer, count, datatype, root, comm, ierror)
end subroutine

! The tool for mpif.h and mpi.
subroutine MPI_COMM_RANK(comm, rank, ierror)
  use counts
  implicit none
  integer :: comm, rank, ierror
  old_ranks = old_ranks + 1
  call PMPI_COMM_RANK(comm, rank, ierror)
end subroutine

module by_mpi
  use mpi
  implicit none
contains
  subroutine old_calls(rank)
    integer, intent(out) :: rank
    integer :: ierror
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call PMPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call PMPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine
end module

program profiling
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use by_mpi, only: old_calls
  use counts
  use check
  implicit none
  interface
    integer(c_int) function barriers_in_c() bind(C)
      import
    end function
  end interface
  integer :: rank, size, numbers(6)

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call old_calls(rank)
  call expect(old_ranks == 1 .and. rank >= 0 .and. rank < size, 'a tool of mpif.h and mpi')
  call MPI_Barrier(MPI_COMM_WORLD)
  call PMPI_Barrier(MPI_COMM_WORLD)
  call expect(barriers_in_c() == 2, 'a tool in C')
  numbers = rank
  if (rank == 0) numbers = 7
  call MPI_Bcast(numbers(1:6:2), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call PMPI_Bcast(numbers(2:6:2), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
  call expect(new_broadcasts == 1 .and. all(numbers(:5) == 7), 'a tool of mpi_f08')
  call expect(rank == 0 .or. numbers(6) == rank, 'a part of a section')
  call MPI_Finalize()
  call end_checks()
end program
