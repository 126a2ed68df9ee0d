! SPDX-License-Identifier: BSD-3-Clause
! One-sided communication and windows, by mpi_f08 and mpi. The tests compare the contents of the target element by element.
! A library without windows says so, and the test is skipped (exit code 77).
module procedures
  use mpi_f08
  implicit none
  integer :: deletions = 0, handled = MPI_SUCCESS
  type(MPI_Win) :: handled_win
contains
  subroutine copy(win, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Win) :: win
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(win, win_keyval, attribute_val, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (attribute_val == 5000000000_MPI_ADDRESS_KIND .and. extra_state == 3) deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    handled_win = win
    handled = error_code
  end subroutine
end module

module by_mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi
  implicit none
contains
  ! Returns the value that the next rank has put. The memory is MPI's, given as an address.
  integer function round(rank, size)
    integer, intent(in) :: rank, size
    integer :: win, ierror
    integer, pointer :: memory(:)
    type(c_ptr) :: place
    integer(MPI_ADDRESS_KIND) :: address, value
    logical :: flag
    call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win, ierror)
    place = transfer(address, place)
    call c_f_pointer(place, memory, [4])
    memory = -1
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + size - 1, size), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    round = memory(3)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
    if (.not. flag .or. value /= address) round = -2
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    if (.not. flag .or. value /= 16) round = -3
    call MPI_Win_free(win, ierror)
    if (win /= MPI_WIN_NULL) round = -4
  end function
end module

program windows
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  use procedures
  use by_mpi, only: round
  use check
  implicit none
  integer, parameter :: wide = MPI_ADDRESS_KIND
  integer :: rank, size

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call skip_without_windows()
  call fences()
  call sections()
  call locks()
  call requests()
  call groups()
  call memory_of_others()
  call properties()
  call expect(round(rank, size) == mod(rank + 1, size), 'a window of the module mpi')
  call MPI_Finalize()
  call end_checks()

contains

  subroutine skip_without_windows()
    integer :: code, class, nothing(1)
    type(MPI_Win) :: win
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Win_create(nothing, 4_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, code)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    if (code == MPI_SUCCESS) then
      call MPI_Win_free(win)
      return
    end if
    call MPI_Error_class(code, class)
    call expect(class == MPI_ERR_UNSUPPORTED_OPERATION, 'why there is no window')
    call end_checks()
    print '(a)', 'SKIPPED: the library says that it has no windows'
    call MPI_Finalize()
    stop 77
  end subroutine

  integer function next()
    next = mod(rank + 1, size)
  end function
  integer function previous()
    previous = mod(rank + size - 1, size)
  end function

  subroutine fences()
    integer, asynchronous :: memory(8), got(8)
    integer :: i
    type(MPI_Win) :: win
    memory = [(rank * 100 + i, i = 1, 8)]
    call MPI_Win_create(memory, 32_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, win)
    got = -1
    call MPI_Get(got, 3, MPI_INTEGER, next(), 1_wide, 3, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(got(:3) == next() * 100 + [2, 3, 4]) .and. all(got(4:) == -1), 'MPI_Get')
    call MPI_Put([rank, -rank], 2, MPI_INTEGER, next(), 6_wide, 2, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(memory(7:) == [previous(), -previous()]) .and. memory(6) == rank * 100 + 6, 'MPI_Put')
    call MPI_Accumulate([rank + 1], 1, MPI_INTEGER, 0, 0_wide, 1, MPI_INTEGER, MPI_SUM, win)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
    if (rank == 0) call expect(memory(1) == 1 + size * (size + 1) / 2, 'MPI_Accumulate')
    call MPI_Win_free(win)
    call expect(win == MPI_WIN_NULL, 'a freed window')
  end subroutine

  ! Gets into a section with gaps, and puts one with a large count.
  subroutine sections()
    integer, asynchronous :: memory(12), here(12)
    integer :: i
    type(MPI_Win) :: win
    memory = [(rank * 100 + i, i = 1, 12)]
    here = [(-i, i = 1, 12)]
    call MPI_Win_create(memory, 48_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_fence(0, win)
    call MPI_Get(here(2:12:5), 3, MPI_INTEGER, next(), 4_wide, 3, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(here(2:12:5) == next() * 100 + [5, 6, 7]), 'MPI_Get into a section')
    call expect(count(here < 0) == 9, 'gaps of MPI_Get')
    call MPI_Put(here(12:1:-4), 3_MPI_COUNT_KIND, MPI_INTEGER, next(), 0_wide, 3_MPI_COUNT_KIND, MPI_INTEGER, win)
    call MPI_Win_fence(0, win)
    call expect(all(memory(:3) == [mod(rank, size) * 100 + 7, -8, -4]), 'MPI_Put of a section')
    call MPI_Win_free(win)
  end subroutine

  subroutine locks()
    integer, asynchronous :: memory(2), old, before, one
    integer :: i
    type(MPI_Win) :: win
    memory = [0, 7]
    call MPI_Win_create(memory, 8_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    one = 1
    do i = 1, 10
      call MPI_Fetch_and_op(one, before, MPI_INTEGER, 0, 0_wide, MPI_SUM, win)
      call MPI_Win_flush(0, win)
      call expect(before >= i - 1 .and. before < 10 * size, 'MPI_Fetch_and_op')
    end do
    call MPI_Compare_and_swap(rank + 100, 7, old, MPI_INTEGER, next(), 1_wide, win)
    call MPI_Win_flush(next(), win)
    call expect(old == 7, 'MPI_Compare_and_swap')
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)
    call MPI_Get_accumulate(one, 1, MPI_INTEGER, old, 1, MPI_INTEGER, 0, 0_wide, 1, MPI_INTEGER, MPI_NO_OP, win)
    call MPI_Win_unlock(0, win)
    call expect(old == 10 * size, 'MPI_Get_accumulate')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)
    call expect(memory(2) == previous() + 100, 'what was swapped')
    call MPI_Win_unlock(rank, win)
    call MPI_Win_free(win)
  end subroutine

  subroutine requests()
    integer, asynchronous :: memory(4), here(2)
    type(MPI_Win) :: win
    type(MPI_Request) :: r(2)
    memory = rank
    call MPI_Win_create(memory, 16_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Rget(here, 2, MPI_INTEGER, next(), 2_wide, 2, MPI_INTEGER, win, r(1))
    call MPI_Rput([rank * 3], 1, MPI_INTEGER, next(), 0_wide, 1, MPI_INTEGER, win, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call expect(all(here == next()) .and. all(r == MPI_REQUEST_NULL), 'MPI_Rget')
    call MPI_Raccumulate([5], 1, MPI_INTEGER, next(), 1_wide, 1, MPI_INTEGER, MPI_SUM, win, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_sync(win)
    call expect(memory(1) == previous() * 3 .and. memory(2) == rank + 5, 'MPI_Rput and MPI_Raccumulate')
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
  end subroutine

  ! Opens memory to the rank before, and puts into that of the next one: post, start, complete, wait.
  subroutine groups()
    integer, asynchronous :: memory(1)
    type(MPI_Win) :: win
    type(MPI_Group) :: world, from, to
    logical :: flag
    memory = -1
    call MPI_Win_create(memory, 4_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Comm_group(MPI_COMM_WORLD, world)
    call MPI_Group_incl(world, 1, [previous()], from)
    call MPI_Group_incl(world, 1, [next()], to)
    call MPI_Win_post(from, 0, win)
    call MPI_Win_start(to, 0, win)
    call MPI_Put([rank + 10], 1, MPI_INTEGER, next(), 0_wide, 1, MPI_INTEGER, win)
    call MPI_Win_complete(win)
    flag = .false.
    do while (.not. flag)
      call MPI_Win_test(win, flag)
    end do
    call expect(memory(1) == previous() + 10, 'an epoch of two groups')
    call MPI_Group_free(world)
    call MPI_Group_free(from)
    call MPI_Group_free(to)
    call MPI_Win_free(win)
  end subroutine

  ! Uses memory that MPI allocates and shares, and memory that is attached later.
  subroutine memory_of_others()
    type(c_ptr) :: address
    type(MPI_Win) :: win
    integer, pointer :: mine(:), theirs(:)
    integer, target, asynchronous :: later(3)
    integer(wide) :: bytes, place, places(0:size - 1)
    integer :: unit, got
    call MPI_Win_allocate_shared(8_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win)
    call c_f_pointer(address, mine, [2])
    mine = [rank, rank * rank]
    call MPI_Win_fence(0, win)
    call MPI_Win_shared_query(win, next(), bytes, unit, address)
    call c_f_pointer(address, theirs, [2])
    call expect(bytes == 8 .and. unit == 4 .and. all(theirs == [next(), next()**2]), 'shared memory')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)

    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    later = [1, 2, 3] * (rank + 1)
    call MPI_Win_attach(win, later, 12_wide)
    call MPI_Get_address(later(2), place)
    call MPI_Allgather(place, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD)
    call MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, win)
    call MPI_Get(got, 1, MPI_INTEGER, next(), places(next()), 1, MPI_INTEGER, win)
    call MPI_Win_unlock(next(), win)
    call expect(got == 2 * (next() + 1), 'attached memory')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(win, later)
    call MPI_Win_free(win)
  end subroutine

  subroutine properties()
    integer :: memory(5), key, length, code
    integer(wide) :: value
    character(len=MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    type(MPI_Win) :: win
    type(MPI_Group) :: group
    type(MPI_Errhandler) :: handler
    call MPI_Win_create(memory, 20_wide, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_set_name(win, 'a window ')
    call MPI_Win_get_name(win, name, length)
    call expect(name == 'a window' .and. length == 8, 'the name of a window')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag)
    call expect(flag .and. value == 20, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag)
    call expect(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_group(win, group)
    call MPI_Group_size(group, length)
    call expect(length == size, 'the group of a window')
    call MPI_Group_free(group)

    call MPI_Win_create_keyval(copy, delete, key, 3_wide)
    call MPI_Win_set_attr(win, key, 5000000000_wide)
    call MPI_Win_get_attr(win, key, value, flag)
    call expect(flag .and. value == 5000000000_wide, 'an attribute of a window')
    call MPI_Win_free_keyval(key)

    call MPI_Win_create_errhandler(handle, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Errhandler_free(handler)
    call MPI_Win_fence(0, win)
    call MPI_Put(memory, -1, MPI_INTEGER, 0, 0_wide, 1, MPI_INTEGER, win, code)
    call expect(code /= MPI_SUCCESS .and. handled == code .and. handled_win == win, 'the error handler of a window')
    call MPI_Win_fence(0, win)
    call MPI_Win_free(win)
    call expect(deletions == 1, 'attributes go with their window')
  end subroutine
end program
