! SPDX-License-Identifier: BSD-3-Clause
! A discrete-ordinates transport sweep whose threads all communicate, as in P2, section 7.
!
!   mpiexec -n 4 sweep nx=16 ny=16 nz=16 chunk=4 angles=8 groups=8 iterations=4 threads=2
!
! The ranks form a grid over y and z and sweep along x in chunks (KBA). A rank needs what flows in through its y and
! z faces, and hands on what flows out. OpenMP threads share the energy groups. Every thread receives and sends the
! faces of its own groups, under MPI_THREAD_MULTIPLE; the tag tells groups apart: group * 16384 + chunk.
!
! At the end rank 0 sweeps the whole grid alone, with one thread. The program fails unless every cell is the same.
! Cells are computed by the same operations in the same order, however the grid is cut.
module problems
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none

  type :: Problem
    integer :: nx = 16, ny = 16, nz = 16, chunk = 4, angles = 8, groups = 8, iterations = 4, threads = 1
  end type

  ! The cells of a rank, and its place in the grid of ranks.
  type :: Part
    integer :: rows = 1, columns = 1, row = 0, column = 0    ! of ranks: rows along y, columns along z
    integer :: y_first = 1, ny = 0, z_first = 1, nz = 0
  end type

contains

  ! Returns the part of a rank. The grid of ranks is as square as it can be.
  function part_of(p, rank, ranks) result(mine)
    type(Problem), intent(in) :: p
    integer, intent(in) :: rank, ranks
    type(Part) :: mine
    mine%rows = int(sqrt(real(ranks)) + 0.5)
    do while (mod(ranks, mine%rows) /= 0)
      mine%rows = mine%rows - 1
    end do
    mine%columns = ranks / mine%rows
    mine%row = mod(rank, mine%rows)
    mine%column = rank / mine%rows
    call share(p%ny, mine%rows, mine%row, mine%y_first, mine%ny)
    call share(p%nz, mine%columns, mine%column, mine%z_first, mine%nz)
  end function

  subroutine share(cells, parts, i, first, count)
    integer, intent(in) :: cells, parts, i
    integer, intent(out) :: first, count
    first = i * cells / parts + 1
    count = (i + 1) * cells / parts + 1 - first
  end subroutine

  subroutine read_arguments(p)
    type(Problem), intent(inout) :: p
    character(len=64) :: word
    integer :: i, at
    do i = 1, command_argument_count()
      call get_command_argument(i, word)
      at = index(word, '=')
      select case (word(:max(at - 1, 0)))
      case ('nx'); read (word(at + 1:), *) p%nx
      case ('ny'); read (word(at + 1:), *) p%ny
      case ('nz'); read (word(at + 1:), *) p%nz
      case ('chunk'); read (word(at + 1:), *) p%chunk
      case ('angles'); read (word(at + 1:), *) p%angles
      case ('groups'); read (word(at + 1:), *) p%groups
      case ('iterations'); read (word(at + 1:), *) p%iterations
      case ('threads'); read (word(at + 1:), *) p%threads
      case default
        error stop 'sweep: an argument is none of nx ny nz chunk angles groups iterations threads, with =NUMBER'
      end select
    end do
    if (mod(p%nx, p%chunk) /= 0) error stop 'sweep: nx is no multiple of chunk'
  end subroutine
end module

module cells
  use problems
  implicit none
contains

  ! Returns the source of a cell. It does not depend on where the grid is cut.
  pure real(real64) function made(i, j, k, g)
    integer, intent(in) :: i, j, k, g
    made = 1 + 0.25_real64 * mod(i + 2 * j + 3 * k + 5 * g, 7)
  end function

  pure real(real64) function absorption(i, j, k, g)
    integer, intent(in) :: i, j, k, g
    absorption = 0.5_real64 + 0.1_real64 * g + 0.05_real64 * mod(i * j + k, 5)
  end function

  ! Computes diamond differences through a chunk of cells, for all angles of an octant. The faces hold what flows in,
  ! and afterwards what flows out.
  subroutine cross(p, m, g, octant, first, flux, source, x_face, y_face, z_face)
    type(Problem), intent(in) :: p
    type(Part), intent(in) :: m
    integer, intent(in) :: g, octant, first
    real(real64), intent(inout) :: flux(p%nx, m%ny, m%nz)
    real(real64), intent(in) :: source(p%nx, m%ny, m%nz)
    real(real64), intent(inout) :: x_face(p%angles, m%ny, m%nz)
    real(real64), intent(inout) :: y_face(p%angles, p%chunk, m%nz), z_face(p%angles, p%chunk, m%ny)
    real(real64) :: mu, eta, xi, psi
    integer :: a, i, j, k, x, y, z, n
    do k = 1, m%nz
      z = merge(k, m%nz + 1 - k, btest(octant, 2))
      do j = 1, m%ny
        y = merge(j, m%ny + 1 - j, btest(octant, 1))
        do n = 1, p%chunk
          i = first + n - 1
          x = merge(i, p%nx + 1 - i, btest(octant, 0))
          do a = 1, p%angles
            mu = (a - 0.5_real64) / p%angles
            eta = 1 - mu / 2
            xi = 0.25_real64 + mu / 4
            psi = (source(x, y, z) + 2 * (mu * x_face(a, y, z) + eta * y_face(a, n, z) + xi * z_face(a, n, y))) &
              / (absorption(x, m%y_first + y - 1, m%z_first + z - 1, g) + 2 * (mu + eta + xi))
            x_face(a, y, z) = 2 * psi - x_face(a, y, z)
            y_face(a, n, z) = 2 * psi - y_face(a, n, z)
            z_face(a, n, y) = 2 * psi - z_face(a, n, y)
            flux(x, y, z) = flux(x, y, z) + psi / (8 * p%angles)
          end do
        end do
      end do
    end do
  end subroutine

  ! Makes the source of a group. A part of every group's flux scatters into each group.
  subroutine make_source(p, m, g, flux, source)
    type(Problem), intent(in) :: p
    type(Part), intent(in) :: m
    integer, intent(in) :: g
    real(real64), intent(in) :: flux(p%nx, m%ny, m%nz, p%groups)
    real(real64), intent(out) :: source(p%nx, m%ny, m%nz)
    integer :: i, j, k, other
    do k = 1, m%nz
      do j = 1, m%ny
        do i = 1, p%nx
          source(i, j, k) = made(i, m%y_first + j - 1, m%z_first + k - 1, g)
          do other = 1, p%groups
            source(i, j, k) = source(i, j, k) + 0.3_real64 / p%groups * flux(i, j, k, other)
          end do
        end do
      end do
    end do
  end subroutine
end module

module sweeps
  use mpi_f08
  use cells
  implicit none
contains

  subroutine sweep(p, m, comm, flux)
    type(Problem), intent(in) :: p
    type(Part), intent(in) :: m
    type(MPI_Comm), intent(in) :: comm
    real(real64), allocatable, intent(out) :: flux(:, :, :, :)
    real(real64), allocatable :: source(:, :, :, :)
    integer :: iteration, g
    allocate (flux(p%nx, m%ny, m%nz, p%groups), source(p%nx, m%ny, m%nz, p%groups))
    flux = 0
    do iteration = 1, p%iterations
      !$omp parallel num_threads(p%threads)
      !$omp do schedule(static)
      do g = 1, p%groups
        call make_source(p, m, g, flux, source(:, :, :, g))
      end do
      !$omp end do
      !$omp do schedule(static)
      do g = 1, p%groups
        call sweep_group(p, m, comm, g, flux(:, :, :, g), source(:, :, :, g))
      end do
      !$omp end do
      !$omp end parallel
    end do
  end subroutine

  ! Sweeps all octants of a group. Ranks take octants and chunks in the same order, so that they never wait in a circle.
  subroutine sweep_group(p, m, comm, g, flux, source)
    type(Problem), intent(in) :: p
    type(Part), intent(in) :: m
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: g
    real(real64), intent(inout) :: flux(p%nx, m%ny, m%nz)
    real(real64), intent(in) :: source(p%nx, m%ny, m%nz)
    real(real64) :: x_face(p%angles, m%ny, m%nz)
    ! Each face has two buffers: one is sent while the next is computed.
    real(real64), asynchronous :: y_face(p%angles, p%chunk, m%nz, 0:1), z_face(p%angles, p%chunk, m%ny, 0:1)
    type(MPI_Request) :: received(2), sent(2, 0:1)
    integer :: octant, first, step, side, tag, y_from, y_to, z_from, z_to
    sent = MPI_REQUEST_NULL
    flux = 0
    step = 0
    do octant = 0, 7
      call neighbours(m, octant, y_from, y_to, z_from, z_to)
      x_face = 0
      do first = 1, p%nx, p%chunk
        side = mod(step, 2)
        step = step + 1
        tag = g * 16384 + octant * 1024 + first / p%chunk
        call MPI_Waitall(2, sent(:, side), MPI_STATUSES_IGNORE)
        y_face(:, :, :, side) = 0
        z_face(:, :, :, side) = 0
        call MPI_Irecv(y_face(:, :, :, side), p%angles * p%chunk * m%nz, MPI_DOUBLE_PRECISION, y_from, tag, comm, &
          received(1))
        call MPI_Irecv(z_face(:, :, :, side), p%angles * p%chunk * m%ny, MPI_DOUBLE_PRECISION, z_from, tag, comm, &
          received(2))
        call MPI_Waitall(2, received, MPI_STATUSES_IGNORE)
        call cross(p, m, g, octant, first, flux, source, x_face, y_face(:, :, :, side), z_face(:, :, :, side))
        call MPI_Isend(y_face(:, :, :, side), p%angles * p%chunk * m%nz, MPI_DOUBLE_PRECISION, y_to, tag, comm, &
          sent(1, side))
        call MPI_Isend(z_face(:, :, :, side), p%angles * p%chunk * m%ny, MPI_DOUBLE_PRECISION, z_to, tag, comm, &
          sent(2, side))
      end do
    end do
    do side = 0, 1
      call MPI_Waitall(2, sent(:, side), MPI_STATUSES_IGNORE)
    end do
  end subroutine

  subroutine neighbours(m, octant, y_from, y_to, z_from, z_to)
    type(Part), intent(in) :: m
    integer, intent(in) :: octant
    integer, intent(out) :: y_from, y_to, z_from, z_to
    integer :: along_y, along_z
    along_y = merge(1, -1, btest(octant, 1))
    along_z = merge(1, -1, btest(octant, 2))
    y_from = rank_at(m, m%row - along_y, m%column)
    y_to = rank_at(m, m%row + along_y, m%column)
    z_from = rank_at(m, m%row, m%column - along_z)
    z_to = rank_at(m, m%row, m%column + along_z)
  end subroutine

  ! Returns MPI_PROC_NULL outside of the grid: nothing flows in from there.
  integer function rank_at(m, row, column)
    type(Part), intent(in) :: m
    integer, intent(in) :: row, column
    rank_at = MPI_PROC_NULL
    if (row >= 0 .and. row < m%rows .and. column >= 0 .and. column < m%columns) rank_at = column * m%rows + row
  end function
end module

program main
  use sweeps
  implicit none
  type(Problem) :: p
  type(Part) :: mine
  real(real64), allocatable :: flux(:, :, :, :)
  real(real64) :: start, seconds
  integer :: rank, ranks, provided

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  if (provided < MPI_THREAD_MULTIPLE) error stop 'sweep: threads may not all call MPI'
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments(p)
  mine = part_of(p, rank, ranks)
  if (mine%ny == 0 .or. mine%nz == 0) error stop 'sweep: there are more ranks than cells along y or z'
  call MPI_Barrier(MPI_COMM_WORLD)
  start = MPI_Wtime()
  call sweep(p, mine, MPI_COMM_WORLD, flux)
  seconds = MPI_Wtime() - start
  call MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call compare(p, ranks)
  if (rank == 0) print '(a, i0, a, i0, a, es11.5, a, es11.5)', 'result bench=sweep ranks=', ranks, ' threads=', &
    p%threads, ' seconds=', seconds, ' cells_per_s=', &
    8d0 * p%nx * p%ny * p%nz * p%angles * p%groups * p%iterations / seconds
  call MPI_Finalize()

contains

  ! Compares all cells on rank 0, which gets those of each rank in turn.
  subroutine compare(p, ranks)
    type(Problem), intent(in) :: p
    integer, intent(in) :: ranks
    type(Problem) :: alone
    type(Part) :: whole, theirs
    real(real64), allocatable :: answer(:, :, :, :), received(:, :, :, :), mine(:, :, :, :)
    integer :: other, different
    if (rank /= 0) then
      call MPI_Send(flux, size(flux), MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD)
      return
    end if
    alone = p
    alone%threads = 1
    whole = part_of(alone, 0, 1)
    call sweep(alone, whole, MPI_COMM_SELF, answer)
    different = 0
    do other = 0, ranks - 1
      theirs = part_of(p, other, ranks)
      if (other == 0) then
        received = flux
      else
        if (allocated(received)) deallocate (received)
        allocate (received(p%nx, theirs%ny, theirs%nz, p%groups))
        call MPI_Recv(received, size(received), MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      end if
      associate (y => theirs%y_first, z => theirs%z_first)
        mine = answer(:, y:y + theirs%ny - 1, z:z + theirs%nz - 1, :)
      end associate
      different = different + count(abs(received - mine) > 1e-12_real64 * abs(mine))
    end do
    if (different == 0) return
    print '(a, i0, a)', 'sweep: ', different, ' cells are not what one rank with one thread computes'
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
