! SPDX-License-Identifier: BSD-3-Clause
! Callbacks written in Fortran, with mpi_f08: operations, error handlers, attributes, generalized requests; from
! several threads, too.
module procedures
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
  integer :: handled_code = 0, errors_of(0:9) = 0, deletions = 0, queries = 0, frees = 0, cancels = 0
  type(MPI_Comm) :: handled_comm
  integer(MPI_ADDRESS_KIND) :: deleted_value = 0
contains
  ! Multiplies 2 x 2 matrices: such products do not commute.
  subroutine multiply(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :, :), b(:, :, :)
    integer :: i, bytes
    call MPI_Type_size(datatype, bytes)
    if (bytes /= 16) error stop 'another datatype'
    call c_f_pointer(invec, a, [2, 2, len])
    call c_f_pointer(inoutvec, b, [2, 2, len])
    do i = 1, len
      b(:, :, i) = matmul(a(:, :, i), b(:, :, i))
    end do
  end subroutine

  subroutine add_large(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) error stop 'another datatype'
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine

  subroutine handle(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    integer :: length, thread
    character(len=MPI_MAX_OBJECT_NAME) :: name
    call MPI_Comm_get_name(comm, name, length)
    !$omp critical
    handled_comm = comm
    handled_code = error_code
    if (name(:7) == 'thread ') then
      read (name(8:), *) thread
      errors_of(thread) = errors_of(thread) + 1
    end if
    !$omp end critical
  end subroutine

  subroutine copy(comm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = attribute_val_in /= 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    !$omp atomic
    deletions = deletions + 1
    !$omp atomic write
    deleted_value = attribute_val
    ierror = MPI_SUCCESS
  end subroutine

  subroutine copy_type(datatype, datatype_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Datatype) :: datatype
    integer :: datatype_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * 2
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    !$omp atomic
    queries = queries + 1
    status%MPI_SOURCE = int(extra_state)
    status%MPI_TAG = 77
    call MPI_Status_set_elements(status, MPI_INTEGER, 3)
    call MPI_Status_set_cancelled(status, .false.)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine release(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    !$omp atomic
    frees = frees + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    cancels = cancels + merge(10, 1, complete)
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use mpi_f08
  use omp_lib, only: omp_get_thread_num
  use procedures
  use check
  implicit none
  integer :: rank, size, provided
  integer, parameter :: threads = 3

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call expect(provided == MPI_THREAD_MULTIPLE, 'threads')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call operations()
  call error_handlers()
  call attributes()
  call type_attributes()
  call generalized_requests()
  call operations_in_threads()
  call others_in_threads()
  call MPI_Finalize()
  call end_checks()

contains

  subroutine operations()
    type(MPI_Op) :: product, large
    type(MPI_Datatype) :: matrix
    integer :: a(2, 2, 3), b(2, 2, 3), expected(2, 2), i, n
    logical :: commute
    call MPI_Type_contiguous(4, MPI_INTEGER, matrix)
    call MPI_Type_commit(matrix)
    call MPI_Op_create(multiply, .false., product)
    call MPI_Op_commutative(product, commute)
    call expect(.not. commute, 'an operation that does not commute')
    do i = 1, 3
      a(:, :, i) = of_rank(rank, i)
    end do
    call MPI_Allreduce(a, b, 3, matrix, product, MPI_COMM_WORLD)
    do n = 1, 3
      expected = of_rank(0, n)
      do i = 1, size - 1
        expected = matmul(expected, of_rank(i, n))
      end do
      call expect(all(b(:, :, n) == expected), 'products in the order of ranks')
    end do
    call MPI_Op_free(product)
    call expect(product == MPI_OP_NULL, 'a freed operation')
    call MPI_Op_create_c(add_large, .true., large)
    call MPI_Reduce_local([1, 2, 3], a(:, 1, 1), 2, MPI_INTEGER, large)
    call expect(a(2, 1, 1) == sum([2, of_rank_element(rank)]), 'an operation on large counts')
    call MPI_Op_free(large)
    call MPI_Type_free(matrix)
  end subroutine

  function of_rank(r, n) result(m)
    integer, intent(in) :: r, n
    integer :: m(2, 2)
    m = reshape([1 + mod(r, 2), n, 0, 1 + mod(r, 3)], [2, 2])
  end function
  integer function of_rank_element(r)
    integer, intent(in) :: r
    integer :: m(2, 2)
    m = of_rank(r, 1)
    of_rank_element = m(2, 1)
  end function

  subroutine error_handlers()
    type(MPI_Errhandler) :: handler, found
    type(MPI_Comm) :: comm
    integer :: code, class
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_errhandler(handle, handler)
    call MPI_Comm_set_errhandler(comm, handler)
    call MPI_Comm_get_errhandler(comm, found)
    call expect(found == handler, 'the error handler of a communicator')
    call MPI_Send([1], -1, MPI_INTEGER, 0, 0, comm, code)
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_COUNT, 'an error class')
    call expect(handled_comm == comm .and. handled_code == code, 'an error handler was called')
    call MPI_Errhandler_free(found)
    call MPI_Errhandler_free(handler)
    call MPI_Comm_free(comm)
  end subroutine

  subroutine attributes()
    type(MPI_Comm) :: comm, dup
    integer :: key, plain
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call MPI_Comm_create_keyval(copy, delete, key, 1000_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, plain, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call expect(.not. flag, 'no attribute')
    call MPI_Comm_set_attr(comm, key, 5000000000_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(comm, plain, -3_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, dup)
    call MPI_Comm_get_attr(dup, key, value, flag)
    call expect(flag .and. value == 5000001000_MPI_ADDRESS_KIND, 'a copied attribute')
    call MPI_Comm_get_attr(dup, plain, value, flag)
    call expect(flag .and. value == -3, 'MPI_COMM_DUP_FN')
    call MPI_Comm_delete_attr(dup, key)
    call expect(deletions == 1 .and. deleted_value == 5000001000_MPI_ADDRESS_KIND, 'a deleted attribute')
    call MPI_Comm_free(dup)
    call MPI_Comm_set_attr(comm, key, 1_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, dup)
    call MPI_Comm_get_attr(dup, key, value, flag)
    call expect(.not. flag, 'an attribute that is not copied')
    call MPI_Comm_free(dup)
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(plain)
    call expect(key == MPI_KEYVAL_INVALID, 'a freed key')
    call MPI_Comm_free(comm)
    call expect(deletions == 3 .and. deleted_value == 1, 'attributes go with their communicator')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call expect(flag .and. value >= 16384 * 1024, 'MPI_TAG_UB is large')
  end subroutine

  subroutine type_attributes()
    type(MPI_Datatype) :: datatype, dup
    integer :: key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Type_dup(MPI_REAL, datatype)
    call MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Type_set_attr(datatype, key, 21_MPI_ADDRESS_KIND)
    call MPI_Type_dup(datatype, dup)
    call MPI_Type_get_attr(dup, key, value, flag)
    call expect(flag .and. value == 42, 'an attribute of a datatype')
    call MPI_Type_free(datatype)
    call MPI_Type_free(dup)
    call MPI_Type_free_keyval(key)
  end subroutine

  subroutine generalized_requests()
    type(MPI_Request) :: r
    type(MPI_Status) :: status
    integer :: count
    logical :: flag
    call MPI_Grequest_start(query, release, cancel, 5_MPI_ADDRESS_KIND, r)
    call MPI_Test(r, flag, status)
    call expect(.not. flag, 'a generalized request under way')
    call MPI_Cancel(r)
    call expect(cancels == 1, 'cancelled before it was complete')
    call MPI_Grequest_complete(r)
    call MPI_Cancel(r)
    call expect(cancels == 11, 'cancelled after it was complete')
    call MPI_Wait(r, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(status%MPI_SOURCE == 5 .and. status%MPI_TAG == 77 .and. count == 3, 'its status')
    call expect(queries == 1 .and. frees == 5 .and. r == MPI_REQUEST_NULL, 'its callbacks')
  end subroutine

  ! Reduces in threads: each has a communicator of its own, and all use the same procedure.
  subroutine operations_in_threads()
    type(MPI_Comm) :: comms(0:threads - 1)
    type(MPI_Op) :: op
    integer :: i, n, a(3), b(3)
    do i = 0, threads - 1
      call MPI_Comm_dup(MPI_COMM_WORLD, comms(i))
    end do
    !$omp parallel num_threads(threads) private(op, n, a, b, i)
    i = omp_get_thread_num()
    do n = 1, 50
      call MPI_Op_create_c(add_large, .true., op)
      a = [i, n, rank]
      call MPI_Allreduce(a, b, 3, MPI_INTEGER, op, comms(i))
      call expect(all(b == [size * i, size * n, size * (size - 1) / 2]), 'an operation in a thread')
      call MPI_Op_free(op)
    end do
    !$omp end parallel
    do i = 0, threads - 1
      call MPI_Comm_free(comms(i))
    end do
  end subroutine

  ! Calls back in threads: each has its own communicator, key, error handler and requests; the procedures are the same.
  subroutine others_in_threads()
    integer, parameter :: times = 20
    type(MPI_Comm) :: comms(0:threads - 1), dup
    type(MPI_Errhandler) :: handler
    type(MPI_Request) :: r
    type(MPI_Status) :: status
    integer(MPI_ADDRESS_KIND) :: value
    integer :: i, n, key, code
    character(len=1) :: digit
    logical :: flag
    deletions = 0
    frees = 0
    call MPI_Comm_create_errhandler(handle, handler)
    do i = 0, threads - 1
      call MPI_Comm_dup(MPI_COMM_SELF, comms(i))
      write (digit, '(i1)') i
      call MPI_Comm_set_name(comms(i), 'thread ' // digit)
      call MPI_Comm_set_errhandler(comms(i), handler)
    end do
    !$omp parallel num_threads(threads) private(dup, r, status, value, i, n, key, code, flag)
    i = omp_get_thread_num()
    do n = 1, times
      call MPI_Comm_create_keyval(copy, delete, key, int(100 * i, MPI_ADDRESS_KIND))
      call MPI_Comm_set_attr(comms(i), key, int(n + 1, MPI_ADDRESS_KIND))
      call MPI_Comm_dup(comms(i), dup)
      call MPI_Comm_get_attr(dup, key, value, flag)
      call expect(flag .and. value == n + 1 + 100 * i, 'an attribute that is copied in a thread')
      call MPI_Comm_delete_attr(comms(i), key)
      call MPI_Comm_free(dup)
      call MPI_Comm_free_keyval(key)
      call MPI_Grequest_start(query, release, cancel, int(i + 1, MPI_ADDRESS_KIND), r)
      call MPI_Grequest_complete(r)
      call MPI_Wait(r, status)
      call expect(status%MPI_SOURCE == i + 1, 'a generalized request in a thread')
      call MPI_Send([1], -1, MPI_INTEGER, 0, 0, comms(i), code)
      call expect(code /= MPI_SUCCESS, 'an error in a thread')
    end do
    !$omp end parallel
    call expect(deletions == 2 * times * threads, 'deletions in threads')
    call expect(frees == times * threads * (threads + 1) / 2, 'what is released in threads')
    call expect(all(errors_of(:threads - 1) == times), 'errors in threads')
    call MPI_Errhandler_free(handler)
    do i = 0, threads - 1
      call MPI_Comm_free(comms(i))
    end do
  end subroutine
end program
