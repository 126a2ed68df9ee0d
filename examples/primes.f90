! SPDX-License-Identifier: BSD-3-Clause
! How many primes there are below a million, with the module mpi: rank 0 hands out ranges to workers that have time.
program primes
  use mpi
  implicit none
  integer, parameter :: limit = 1000000, width = 10000, known = 78498
  integer :: rank, ranks, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  if (ranks == 1) then
    call report(count_primes(0, limit))
  else if (rank == 0) then
    call hand_out()
  else
    call work()
  end if
  call MPI_Finalize(ierr)

contains

  ! Hands out ranges. A worker sends its count, 0 at first. It gets the begin of a range, or the limit if none is left.
  subroutine hand_out()
    integer :: next, counted, total, busy, status(MPI_STATUS_SIZE)
    next = 0
    total = 0
    busy = ranks - 1
    do while (busy > 0)
      call MPI_Recv(counted, 1, MPI_INTEGER, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, status, ierr)
      total = total + counted
      call MPI_Send(next, 1, MPI_INTEGER, status(MPI_SOURCE), 0, MPI_COMM_WORLD, ierr)
      if (next == limit) busy = busy - 1
      next = min(next + width, limit)
    end do
    call report(total)
  end subroutine

  subroutine work()
    integer :: first, counted
    counted = 0
    do
      call MPI_Sendrecv(counted, 1, MPI_INTEGER, 0, 0, first, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE, ierr)
      if (first == limit) exit
      counted = count_primes(first, first + width)
    end do
  end subroutine

  integer function count_primes(first, last)
    integer, intent(in) :: first, last
    integer :: n, d
    count_primes = 0
    do n = max(first, 2), last - 1
      d = 2
      do while (d * d <= n)
        if (mod(n, d) == 0) exit
        d = d + 1
      end do
      if (d * d > n) count_primes = count_primes + 1
    end do
  end function

  subroutine report(total)
    integer, intent(in) :: total
    print '(a, i0, a, i0, a)', 'primes: ', total, ' below ', limit, merge(', correct', ', WRONG  ', total == known)
    if (total /= known) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine
end program
