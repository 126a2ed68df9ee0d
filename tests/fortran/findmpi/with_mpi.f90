! SPDX-License-Identifier: BSD-3-Clause
program with_mpi
  use mpi
  implicit none
  integer :: ranks, ierror
  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (ranks /= 1) stop 1
  call MPI_Finalize(ierror)
end program
