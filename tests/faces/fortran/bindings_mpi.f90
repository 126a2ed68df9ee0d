! SPDX-License-Identifier: BSD-3-Clause
! The module mpi of another MPI library, and names that MPI 3.0 removed, on the face.
program bindings_mpi
  use mpi
  implicit none
  integer :: rank, size, next, last, e
  integer :: handled = 0
  external :: larger, handle
  common /seen/ handled
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  call messages
  call functions
  call old_names
  call MPI_Finalize(e)
  print '(a)', 'done'
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    print '(a, i0, 2a)', 'rank ', rank, ': not true: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, e)
  end subroutine

  subroutine messages
    integer :: a(8), b(8), i, r(2), s(MPI_STATUS_SIZE, 2), one(MPI_STATUS_SIZE), count, place
    logical :: flag
    a = [(i + 100 * rank, i = 1, 8)]
    call MPI_Isend(a, 8, MPI_INTEGER, next, 7, MPI_COMM_WORLD, r(1), e)
    call MPI_Irecv(b, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(2), e)
    call MPI_Waitall(2, r, s, e)
    call check(all(b == [(i + 100 * last, i = 1, 8)]), 'a message')
    call check(s(MPI_SOURCE, 2) == last .and. s(MPI_TAG, 2) == 7, 'statuses')
    call check(all(r == MPI_REQUEST_NULL), 'requests')
    call MPI_Get_count(s(:, 2), MPI_INTEGER, count, e)
    call check(count == 8, 'a count')
    call MPI_Send_init(a, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, r(1), e)
    call MPI_Recv_init(b, 1, MPI_INTEGER, last, 3, MPI_COMM_WORLD, r(2), e)
    call MPI_Startall(2, r, e)
    call MPI_Waitany(1, r(2:2), place, one, e)
    call check(place == 1 .and. one(MPI_TAG) == 3, 'a place in an array')
    call MPI_Wait(r(1), MPI_STATUS_IGNORE, e)
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
    call MPI_Request_free(r(1), e)
    call MPI_Request_free(r(2), e)
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
    call check(.not. flag, 'no message')
    a = rank
    call MPI_Allreduce(MPI_IN_PLACE, a, 8, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, e)
    call check(all(a == size - 1), 'MPI_IN_PLACE')
  end subroutine

  subroutine functions
    integer :: op, errhandler, a, b, bytes, length, key
    double precision :: d
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Op_create(larger, .false., op, e)
    a = rank
    call MPI_Allreduce(a, b, 1, MPI_INTEGER, op, MPI_COMM_WORLD, e)
    call check(b == size - 1, 'an operation of the program')
    call MPI_Op_free(op, e)
    call MPI_Comm_create_errhandler(handle, errhandler, e)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, e)
    call MPI_Send(a, -1, MPI_INTEGER, next, 0, MPI_COMM_WORLD, e)
    call check(handled == 1, 'an error handler of the program')
    call MPI_Error_string(e, text, length, e)
    call check(length > 0 .and. index(text(:length), 'MPI_ERR_COUNT') > 0, 'the text of an error')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, e)
    call MPI_Sizeof(d, bytes, e)
    call check(bytes == 8, 'MPI_Sizeof')
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, e)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -4_MPI_ADDRESS_KIND, e)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, e)
    call check(flag .and. value == -4, 'an attribute')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, e)
    call check(.not. flag .or. value >= size, 'MPI_UNIVERSE_SIZE')
  end subroutine

  subroutine old_names
    integer :: a(4), type, extent, places(2), types(2), key
    logical :: flag
    integer :: value
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    places = [0, 8]
    types = MPI_INTEGER
    call MPI_TYPE_STRUCT(2, [1, 1], places, types, type, e)
    call MPI_Type_commit(type, e)
    call MPI_TYPE_EXTENT(type, extent, e)
    call check(extent == 12, 'an extent')
    a = [1, 2, 3, 4] * merge(1, 0, rank == 0)
    call MPI_Bcast(a, 1, type, 0, MPI_COMM_WORLD, e)
    call check(a(1) == 1 .and. a(3) == 3, 'a structure')
    call MPI_Type_free(type, e)
  end subroutine
end program

subroutine larger(in, inout, length, datatype)
  integer :: length, datatype, in(length), inout(length)
  inout = max(in, inout)
end subroutine

subroutine handle(comm, code)
  use mpi
  integer :: comm, code, class, e, handled
  common /seen/ handled
  call MPI_Error_class(code, class, e)
  if (comm == MPI_COMM_WORLD .and. class == MPI_ERR_COUNT) handled = handled + 1
end subroutine
