! SPDX-License-Identifier: BSD-3-Clause
! mpi_f08 of another MPI library, on the face: what its module passes, and what comes back. In the MPI 3.1 that all have.
module procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: copies = 0, deletions = 0, handled = 0
contains
  subroutine larger(in, inout, length, datatype)
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) error stop 'datatype of an operation'
    call c_f_pointer(in, a, [length])
    call c_f_pointer(inout, b, [length])
    b = max(a, b)
  end subroutine
  subroutine handle(comm, code)
    type(MPI_Comm) :: comm
    integer :: code
    integer :: class
    call MPI_Error_class(code, class)
    if (comm == MPI_COMM_WORLD .and. class == MPI_ERR_RANK) handled = handled + 1
  end subroutine
  subroutine copy(comm, keyval, state, in, out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: state, in, out
    logical :: flag
    copies = copies + 1
    out = in + state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, value, state, ierror)
    type(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, state
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program bindings_f08
  use procedures
  implicit none
  integer :: rank, size, next, last
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  last = mod(rank + size - 1, size)
  call messages
  call collectives
  call user_functions
  call attributes
  call objects
  call MPI_Finalize()
  print '(a)', 'done'
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    print '(a, i0, 2a)', 'rank ', rank, ': not true: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine messages
    integer :: a(8), b(4), c(3, 4), i, count, ints(MPI_STATUS_SIZE)
    type(MPI_Request) :: r(2)
    type(MPI_Status) :: s(2), again
    type(MPI_Message) :: message
    logical :: flag
    a = [(i + 100 * rank, i = 1, 8)]
    b = -1
    call MPI_Isend(a(1:8:2), 4, MPI_INTEGER, next, 7, MPI_COMM_WORLD, r(1))
    call MPI_Irecv(b, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r(2))
    call MPI_Waitall(2, r, s)
    call check(all(b == [1, 3, 5, 7] + 100 * last), 'a section with gaps')
    call check(s(2)%MPI_SOURCE == last .and. s(2)%MPI_TAG == 7, 'a status')
    call check(all(r == MPI_REQUEST_NULL), 'requests after completion')
    call MPI_Get_count(s(2), MPI_INTEGER, count)
    call check(count == 4, 'a count')
#ifdef MPICH /* Open MPI 4 declares these, and has no code for them */
    call MPI_Status_f082f(s(2), ints)
    call check(ints(MPI_SOURCE) == last .and. ints(MPI_TAG) == 7, 'a status as integers')
    call MPI_Status_f2f08(ints, again)
    call check(again%MPI_SOURCE == last, 'a status from integers')
#endif
    call MPI_Test_cancelled(s(2), flag)
    call check(.not. flag, 'nothing was cancelled')
    c = 0
    call MPI_Sendrecv(a, 4, MPI_INTEGER, next, 1, c(2, 1:4), 4, MPI_INTEGER, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(c(2, :) == [1, 2, 3, 4] + 100 * last) .and. all(c(1, :) == 0), 'a row of a matrix')
    call MPI_Isend(a, 8, MPI_INTEGER, next, 2, MPI_COMM_WORLD, r(1))
    call MPI_Mprobe(last, 2, MPI_COMM_WORLD, message, s(1))
    call MPI_Mrecv(a, 8, MPI_INTEGER, message, MPI_STATUS_IGNORE)
    call check(message == MPI_MESSAGE_NULL, 'a message that was received')
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_Recv(a, 8, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, s(1))
    call check(s(1)%MPI_SOURCE == MPI_PROC_NULL, 'nobody')
  end subroutine

  subroutine collectives
    integer :: a(4), b(4), i
    type(MPI_Datatype) :: t
    type(MPI_Request) :: r
    integer(kind=MPI_ADDRESS_KIND) :: place
    a = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, a, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(a == size * (size + 1) / 2), 'MPI_IN_PLACE')
    b = merge(42, 0, rank == 0)
    call MPI_Get_address(b, place)
    call MPI_Type_create_hindexed(1, [4], [place], MPI_INTEGER, t)
    call MPI_Type_commit(t)
    call MPI_Bcast(MPI_BOTTOM, 1, t, 0, MPI_COMM_WORLD)
    call MPI_Type_free(t)
    call check(all(b == 42) .and. t == MPI_DATATYPE_NULL, 'MPI_BOTTOM')
    a = [(i, i = 1, 4)]
    call MPI_Ibcast(a, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(a == [1, 2, 3, 4]), 'a nonblocking broadcast')
  end subroutine

  subroutine user_functions
    type(MPI_Op) :: op
    type(MPI_Errhandler) :: errhandler
    integer :: a(2), b(2), error
    logical :: commutes
    call MPI_Op_create(larger, .true., op)
    call MPI_Op_commutative(op, commutes)
    call check(commutes, 'a logical')
    a = [rank, -rank]
    call MPI_Allreduce(a, b, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(b(1) == size - 1 .and. b(2) == 0, 'an operation of the program')
    call MPI_Op_free(op)
    call MPI_Comm_create_errhandler(handle, errhandler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler)
    call MPI_Send(a, 1, MPI_INTEGER, size + 5, 0, MPI_COMM_WORLD, error)
    call check(handled == 1 .and. error /= MPI_SUCCESS, 'an error handler of the program')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(errhandler)
  end subroutine

  subroutine attributes
    integer :: key, dup
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    type(MPI_Comm) :: other
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Comm_create_keyval(copy, delete, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 1000_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, dup, 77_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, other)
    call MPI_Comm_get_attr(other, key, value, flag)
    call check(flag .and. value == 1005 .and. copies == 1, 'a copied attribute')
    call MPI_Comm_get_attr(other, dup, value, flag)
    call check(flag .and. value == 77, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(other)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    call check(deletions == 2 .and. other == MPI_COMM_NULL, 'deleted attributes')
    call MPI_Comm_free_keyval(key)
    call check(key == MPI_KEYVAL_INVALID, 'a key that was freed')
  end subroutine

  subroutine objects
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    character(len=20) :: text
    type(MPI_Comm) :: cart, copy
    type(MPI_Info) :: info
    type(MPI_Win) :: win
    type(MPI_Group) :: group
    integer :: length, bytes, ranks(1), result, error
    integer, target :: memory(4)
    logical :: periods(1), flag
    integer :: dims(1), coords(1)
    call MPI_Comm_set_name(MPI_COMM_SELF, 'myself  ')
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length)
    call check(length == 6 .and. name == 'myself', 'a name')
    call MPI_Get_processor_name(host, length)
    call check(length > 0 .and. host(length + 1:) == ' ', 'a host')
    dims = 0
    call MPI_Dims_create(size, 1, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., cart)
    call MPI_Cart_get(cart, 1, dims, periods, coords)
    call check(periods(1) .and. coords(1) == rank .and. dims(1) == size, 'an array of logicals')
    call MPI_Comm_compare(cart, MPI_COMM_WORLD, result)
    call check(result == MPI_CONGRUENT, 'a comparison')
    call MPI_Topo_test(cart, result)
    call check(result == MPI_CART, 'a topology')
    call MPI_Comm_free(cart)
    call MPI_Comm_group(MPI_COMM_WORLD, group)
    call MPI_Group_translate_ranks(group, 1, [rank], group, ranks)
    call check(ranks(1) == rank, 'ranks')
    call MPI_Group_free(group)
    call MPI_Info_create(info)
    call MPI_Info_set(info, ' key', 'value ')
    call MPI_Info_get(info, 'key ', 20, text, flag)
    call check(flag .and. text == 'value', 'a value of an info')
    call MPI_Info_free(info)
    memory = 0
    call MPI_Sizeof(memory, bytes)
    call check(bytes == 4, 'MPI_Sizeof')
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Put([rank + 1], 1, MPI_INTEGER, next, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    call check(memory(3) == last + 1, 'a put')
    call MPI_Win_free(win)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [last], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., copy)
    call MPI_Dist_graph_neighbors_count(copy, length, bytes, flag)
    call check(.not. flag .and. length == 1 .and. bytes == 1, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(copy, error)
    call check(error == MPI_SUCCESS, 'an error code that was asked for')
    call check(MPI_Wtime() > 0, 'a time')
  end subroutine
end program
