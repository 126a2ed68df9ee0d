! SPDX-License-Identifier: BSD-3-Clause
! A wave on a square drum, with mpi_f08 and OpenMP. Ranks share the columns, and threads share the rows of every column.
! Each thread exchanges its own part of the edge columns. Columns of a transposed array are sections with gaps, which
! nonblocking calls take as they are. A standing wave returns to its beginning after a period.
program waves
  use mpi_f08
  use omp_lib, only: omp_get_thread_num
  implicit none
  integer, parameter :: n = 120, threads = 3, steps_of_a_period = 340
  integer, parameter :: rows(0:threads) = [1, 41, 81, n + 1]
  double precision, parameter :: pi = acos(-1d0)
  ! u(column, row, moment). Columns 0 and last + 1 belong to the neighbours, or are the rim.
  double precision, allocatable, asynchronous :: u(:, :, :)
  double precision :: courant2, worst
  integer :: rank, ranks, provided, first, columns, i, j, step

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  if (provided < MPI_THREAD_MULTIPLE) error stop 'waves: threads may not all call MPI'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = rank * n / ranks
  columns = (rank + 1) * n / ranks - first
  allocate (u(0:columns + 1, 0:n + 1, 0:2))
  u = 0
  do j = 1, n
    do i = 1, columns
      u(i, j, 0) = sin(pi * (first + i) / (n + 1)) * sin(pi * j / (n + 1))
    end do
  end do
  ! The time step gives a period of so many steps: sin(w/2)**2 = 2 * courant**2 * sin(pi / 2 / (n + 1))**2.
  courant2 = sin(pi / steps_of_a_period)**2 / (2 * sin(pi / 2 / (n + 1))**2)
  u(:, :, 1) = u(:, :, 0) * cos(2 * pi / steps_of_a_period)

  !$omp parallel num_threads(threads) private(step)
  do step = 1, steps_of_a_period - 1
    call advance(rows(omp_get_thread_num()), rows(omp_get_thread_num() + 1) - 1, mod(step - 1, 3), mod(step, 3), &
      mod(step + 1, 3), omp_get_thread_num())
    !$omp barrier
  end do
  !$omp end parallel

  worst = 0
  do j = 1, n
    do i = 1, columns
      worst = max(worst, abs(u(i, j, mod(steps_of_a_period, 3)) - sin(pi * (first + i) / (n + 1)) &
        * sin(pi * j / (n + 1))))
    end do
  end do
  call MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (rank == 0) print '(a, es8.1, a)', 'waves: after a period the wave is off by', worst, &
    merge(', correct', ', WRONG  ', worst <= 1d-9)
  if (worst > 1d-9) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()

contains

  ! Computes rows `low` to `high` of the next moment.
  subroutine advance(low, high, before, now, next, tag)
    integer, intent(in) :: low, high, before, now, next, tag
    type(MPI_Request) :: requests(4)
    integer :: left, right, i, j
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    associate (count => high - low + 1)
      call MPI_Irecv(u(0, low:high, now), count, MPI_DOUBLE_PRECISION, left, tag, MPI_COMM_WORLD, requests(1))
      call MPI_Irecv(u(columns + 1, low:high, now), count, MPI_DOUBLE_PRECISION, right, tag, MPI_COMM_WORLD, &
        requests(2))
      call MPI_Isend(u(1, low:high, now), count, MPI_DOUBLE_PRECISION, left, tag, MPI_COMM_WORLD, requests(3))
      call MPI_Isend(u(columns, low:high, now), count, MPI_DOUBLE_PRECISION, right, tag, MPI_COMM_WORLD, requests(4))
    end associate
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    do j = low, high
      do i = 1, columns
        u(i, j, next) = 2 * u(i, j, now) - u(i, j, before) + courant2 * (u(i - 1, j, now) + u(i + 1, j, now) &
          + u(i, j - 1, now) + u(i, j + 1, now) - 4 * u(i, j, now))
      end do
    end do
  end subroutine
end program
