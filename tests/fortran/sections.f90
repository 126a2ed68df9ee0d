! SPDX-License-Identifier: BSD-3-Clause
! Array sections with gaps as buffers (MPI 5.0, 19.1.12), in every kind of call that takes buffers. The tests compare what
! comes back element by element, and check the gaps.
program sections
  use mpi_f08
  use check
  implicit none
  integer :: rank, size

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call messages()
  call parts_of_sections()
  call elements_of_other_sizes()
  call derived_datatypes()
  call derived_arrays()
  call too_long_datatype()
  call collectives()
  call nonblocking_collectives()
  call persistent_collectives()
  call different_types()
  call packing()
  call large_counts()
  call MPI_Finalize()
  call end_checks()

contains

  ! Sends to the next rank and receives from the one before.
  subroutine messages()
    integer, asynchronous :: a(20), b(20)
    integer :: m(6, 5), n(6, 5), i
    type(MPI_Request) :: r(2)
    type(MPI_Status) :: s(2)
    a = [(rank * 100 + i, i = 1, 20)]
    b = -1
    call MPI_Irecv(b(20:1:-3), 7, MPI_INTEGER, before(), 1, MPI_COMM_WORLD, r(1))
    call MPI_Isend(a(1:19:3), 7, MPI_INTEGER, after(), 1, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, s)
    call expect(all(b(20:1:-3) == [(before() * 100 + i, i = 1, 19, 3)]), 'a negative stride')
    call expect(count(b == -1) == 13, 'gaps of a negative stride')

    m = reshape([(rank * 100 + i, i = 1, 30)], [6, 5])
    n = -1
    call MPI_Sendrecv(m(2:6:2, 1:5:2), 9, MPI_INTEGER, after(), 2, n(1:3, 3:5), 9, MPI_INTEGER, before(), 2, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(n(1:3, 3:5) == m(2:6:2, 1:5:2) + (before() - rank) * 100), 'two dimensions')
    call expect(count(n == -1) == 21, 'gaps of two dimensions')
    ! A vector subscript as an expression: without parentheses it breaks gfortran 12.
    call MPI_Sendrecv((a([3, 1, 2])), 3, MPI_INTEGER, after(), 3, b(1:6:2), 3, MPI_INTEGER, before(), 3, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(b(1:6:2) == before() * 100 + [3, 1, 2]), 'a vector subscript')
  end subroutine

  ! Sends fewer elements than the section has, so that rows are not complete; and none.
  subroutine parts_of_sections()
    integer :: m(4, 4, 4), n(40), k, i
    m = reshape([(rank * 1000 + i, i = 1, 64)], [4, 4, 4])
    do k = 0, 12
      n = -1
      call MPI_Sendrecv(m(1:3, 2:4:2, 2:4), k, MPI_INTEGER, after(), 4, n(1:40:2), k, MPI_INTEGER, before(), 4, &
        MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call expect(all(n(1:2 * k:2) == in_order(m(1:3, 2:4:2, 2:4), k) + (before() - rank) * 1000), 'a part')
      call expect(count(n == -1) == 40 - k, 'gaps of a part')
    end do
  end subroutine

  function in_order(a, k) result(first)
    integer, intent(in) :: a(:, :, :), k
    integer :: first(k), flat(product(shape(a)))
    flat = reshape(a, [product(shape(a))])
    first = flat(1:k)
  end function

  ! Two numbers in an element; an element in two numbers is no datatype of its own.
  subroutine elements_of_other_sizes()
    complex :: c(8), d(8)
    character(len=6) :: words(5), received(5)
    integer :: i
    c = [(cmplx(i, rank), i = 1, 8)]
    d = -1
    call MPI_Sendrecv(c(1:8:2), 7, MPI_REAL, after(), 5, d(2:8:2), 7, MPI_REAL, before(), 5, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call expect(all(d(2:6:2) == [(cmplx(i, before()), i = 1, 5, 2)]), 'pairs of numbers')
    call expect(real(d(8)) == 7 .and. aimag(d(8)) == 0, 'half a pair')
    words = ['one   ', 'two   ', 'three ', 'four  ', 'five  ']
    received = ' '
    call MPI_Sendrecv(words(1:5:2)(2:4), 9, MPI_CHARACTER, after(), 6, received(1:5:2)(1:3), 9, MPI_CHARACTER, &
      before(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(received(1) == 'ne' .and. received(3) == 'hre' .and. received(5) == 'ive', 'substrings')
  end subroutine

  ! Displacements count in the contiguous array that the section stands for.
  subroutine derived_datatypes()
    integer :: a(40), b(12), i
    type(MPI_Datatype) :: vector, backwards
    a = [(rank * 100 + i, i = 1, 40)]
    call MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector)
    call MPI_Type_commit(vector)
    b = -1
    call MPI_Sendrecv(a(1:40:3), 1, vector, after(), 7, b(1:12:2), 6, MPI_INTEGER, before(), 7, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call expect(all(b(1:12:2) == before() * 100 + [1, 4, 13, 16, 25, 28]), 'a vector of a section')
    call MPI_Type_create_indexed_block(3, 1, [5, 3, 0], MPI_INTEGER, backwards)
    call MPI_Type_commit(backwards)
    b = -1
    call MPI_Sendrecv(a(1:40:2), 3, MPI_INTEGER, after(), 8, b(1:12:2), 1, backwards, before(), 8, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call expect(all(b(1:12:2) == [before() * 100 + 5, -1, -1, before() * 100 + 3, -1, before() * 100 + 1]), &
      'an indexed datatype into a section')
    call MPI_Type_free(vector)
    call MPI_Type_free(backwards)
  end subroutine

  ! A section of structures with a datatype for a structure.
  subroutine derived_arrays()
    type, bind(C) :: cell
      integer :: id
      double precision :: mass
    end type
    type(cell) :: a(10), b(10)
    type(MPI_Datatype) :: parts, whole
    integer(MPI_ADDRESS_KIND) :: at(3)
    integer :: i
    a = [(cell(i, rank + i / 8d0), i = 1, 10)]
    b = cell(-1, -1d0)
    call MPI_Get_address(a(1)%id, at(1))
    call MPI_Get_address(a(1)%mass, at(2))
    call MPI_Get_address(a(2)%id, at(3))
    call MPI_Type_create_struct(2, [1, 1], at(1:2) - at(1), [MPI_INTEGER, MPI_DOUBLE_PRECISION], parts)
    call MPI_Type_create_resized(parts, 0_MPI_ADDRESS_KIND, at(3) - at(1), whole)
    call MPI_Type_commit(whole)
    call MPI_Sendrecv(a(1:10:4), 3, whole, after(), 9, b(2:10:3), 3, whole, before(), 9, MPI_COMM_WORLD, &
      MPI_STATUS_IGNORE)
    call expect(all(b(2:8:3)%id == [1, 5, 9]) .and. b(5)%mass == before() + 5 / 8d0, 'structures')
    call expect(count(b%id == -1) == 7, 'gaps between structures')
    call MPI_Type_free(parts)
    call MPI_Type_free(whole)
  end subroutine

  subroutine too_long_datatype()
    integer :: a(10), code, class
    type(MPI_Datatype) :: wide
    call MPI_Type_vector(2, 1, 9, MPI_INTEGER, wide)
    call MPI_Type_commit(wide)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Send(a(1:10:2), 1, wide, 0, 0, MPI_COMM_SELF, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_BUFFER, 'a datatype beyond the section')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Type_free(wide)
  end subroutine

  subroutine collectives()
    integer :: a(10), b(20), all_of_them(3, size), i
    a = [(rank * 10 + i, i = 1, 10)]
    b = -1
    call MPI_Allreduce(a(1:10:3), b(1:20:5), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(b(1:20:5) == [(i * size + 10 * (size * (size - 1) / 2), i = 1, 10, 3)]), 'Allreduce')
    call expect(count(b == -1) == 16, 'gaps of Allreduce')
    call MPI_Allreduce(MPI_IN_PLACE, a(1:10:3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(a(1:10:3) == b(1:20:5)) .and. a(2) == rank * 10 + 2, 'Allreduce in place')
    all_of_them = -1
    call MPI_Allgather([rank], 1, MPI_INTEGER, all_of_them(2, :), 1, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(all_of_them(2, :) == [(i, i = 0, size - 1)]), 'Allgather into a row')
    call expect(all(all_of_them(1::2, :) == -1), 'gaps of Allgather')
    b = -1
    if (rank == 0) b(1:20:2) = [(i, i = 1, 10)]
    call MPI_Bcast(b(1:20:2), 10, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call expect(all(b(1:20:2) == [(i, i = 1, 10)]) .and. all(b(2:20:2) == -1), 'Bcast')
  end subroutine

  ! Tests that sections are filled when the request is complete, whichever call says so.
  subroutine nonblocking_collectives()
    integer, asynchronous :: a(10), b(10, 4)
    integer :: i, place, done, places(4)
    type(MPI_Request) :: r(4)
    logical :: flag
    a = [(rank + i, i = 1, 10)]
    b = -1
    do i = 1, 4
      call MPI_Iallreduce(a(1:10:2), b(i:10:3, i), 2, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, r(i))
    end do
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call expect(b(1, 1) == size .and. b(4, 1) == size + 2, 'Wait')
    flag = .false.
    do while (.not. flag)
      call MPI_Test(r(2), flag, MPI_STATUS_IGNORE)
    end do
    call expect(b(2, 2) == size .and. b(5, 2) == size + 2, 'Test')
    call MPI_Waitany(4, r, place, MPI_STATUS_IGNORE)
    call expect(place == 3 .or. place == 4, 'an index counts from 1')
    call expect(b(place, place) == size .and. b(place + 3, place) == size + 2, 'Waitany')
    call MPI_Waitsome(4, r, done, places, MPI_STATUSES_IGNORE)
    call expect(done == 1 .and. places(1) == 7 - place, 'Waitsome')
    call expect(b(7 - place, 7 - place) == size, 'a result after Waitsome')
    call expect(all(r%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), 'requests are null')
  end subroutine

  subroutine persistent_collectives()
    integer, asynchronous :: a(10), b(10)
    integer :: round
    type(MPI_Request) :: r
    call MPI_Allreduce_init(a(1:10:3), b(2:10:2), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r)
    do round = 1, 3
      a = round * (rank + 1)
      b = -1
      call MPI_Start(r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      call expect(all(b(2:6:2) == round * size * (size + 1) / 2) .and. all(b(1:10:2) == -1), 'Allreduce_init')
    end do
    call MPI_Request_free(r)
  end subroutine

  ! Tests that the bindings convert the datatypes of Alltoallw, and keep them as long as the operation lasts.
  subroutine different_types()
    integer, asynchronous :: a(2 * size), b(2 * size), counts(size), places(size)
    integer :: i
    type(MPI_Datatype) :: types(size)
    type(MPI_Request) :: r
    a = [(rank * 100 + i, i = 1, 2 * size)]
    b = -1
    counts = 1
    places = [((i - 1) * 8, i = 1, size)]
    do i = 1, size
      call MPI_Type_contiguous(2, MPI_INTEGER, types(i))
      call MPI_Type_commit(types(i))
    end do
    call MPI_Ialltoallw(a, counts, places, types, b, counts, places, types, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call expect(all(b(1::2) == [((i - 1) * 100 + 2 * rank + 1, i = 1, size)]), 'Ialltoallw')
    b = -1
    call MPI_Alltoallw(a, counts, places, types, b, counts, places, types, MPI_COMM_WORLD)
    call expect(all(b(2::2) == [((i - 1) * 100 + 2 * rank + 2, i = 1, size)]), 'Alltoallw')
    do i = 1, size
      call MPI_Type_free(types(i))
    end do
  end subroutine

  subroutine packing()
    integer :: a(10), b(10), position, i
    character(len=1) :: packed(200)
    a = [(i, i = 1, 10)]
    b = -1
    packed = 'x'
    position = 0
    call MPI_Pack(a(1:10:2), 5, MPI_INTEGER, packed(1:200:4), 50, position, MPI_COMM_WORLD)
    call expect(all(packed(2:200:4) == 'x'), 'gaps of Pack')
    position = 0
    call MPI_Unpack(packed(1:200:4), 50, position, b(10:1:-2), 5, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(b(10:1:-2) == [1, 3, 5, 7, 9]) .and. all(b(1:10:2) == -1), 'Unpack')
  end subroutine

  subroutine large_counts()
    integer :: a(10), b(10), i
    integer(MPI_COUNT_KIND) :: count
    type(MPI_Status) :: status
    a = [(rank + i, i = 1, 10)]
    b = -1
    call MPI_Sendrecv(a(1:10:2), 5_MPI_COUNT_KIND, MPI_INTEGER, after(), 1, b(2:10:2), 5_MPI_COUNT_KIND, MPI_INTEGER, &
      before(), 1, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 5 .and. b(10) == before() + 9, 'large counts')
  end subroutine

  integer function after()
    after = mod(rank + 1, size)
  end function
  integer function before()
    before = mod(rank + size - 1, size)
  end function
end program
