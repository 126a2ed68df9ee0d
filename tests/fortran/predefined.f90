! SPDX-License-Identifier: BSD-3-Clause
! Predefined attribute procedures that the program itself calls, arguments that MPI_Cart_get leaves alone, and the address of
! MPI_BUFFER_AUTOMATIC.
module cancelling
  use mpi_f08
contains
  ! Compiles only if the request of MPI_Cancel is INTENT(IN) (MPI 5.0, 3.8.4).
  subroutine cancel_it(request)
    type(MPI_Request), intent(in) :: request
    call MPI_Cancel(request)
  end subroutine
end module

module old_predefined
  use mpi
  use check
  implicit none
contains
  subroutine call_predefined
    integer(MPI_ADDRESS_KIND) :: state, given, got
    integer :: ierror, old_got
    logical :: flag
    state = 0
    given = 7
    got = -1
    flag = .false.
    ierror = -1
    call MPI_COMM_DUP_FN(MPI_COMM_WORLD, 0, state, given, got, flag, ierror)
    call expect(flag .and. got == 7 .and. ierror == MPI_SUCCESS, 'MPI_COMM_DUP_FN copies')
    got = -1
    ierror = -1
    call MPI_WIN_NULL_COPY_FN(MPI_WIN_NULL, 0, state, given, got, flag, ierror)
    call expect(.not. flag .and. got == -1 .and. ierror == MPI_SUCCESS, 'MPI_WIN_NULL_COPY_FN does not')
    ierror = -1
    call MPI_TYPE_NULL_DELETE_FN(MPI_INTEGER, 0, given, state, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_TYPE_NULL_DELETE_FN succeeds')
    old_got = -1
    flag = .false.
    call MPI_DUP_FN(MPI_COMM_WORLD, 0, 0, 5, old_got, flag, ierror)
    call expect(flag .and. old_got == 5, 'MPI_DUP_FN copies')
  end subroutine
end module

program predefined
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use cancelling
  use check
  use old_predefined, only: call_predefined
  implicit none
  type(MPI_Comm) :: grid
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(c_ptr) :: address
  integer :: dims(4), coords(4), size, sent, received
  logical :: periods(4), cancelled
  call MPI_Init()
  call call_predefined()

  call MPI_Cart_create(MPI_COMM_SELF, 0, dims, periods, .false., grid)
  dims = -1
  coords = -1
  periods = .true.
  call MPI_Cart_get(grid, 4, dims, periods, coords)
  call expect(all(dims == -1) .and. all(periods) .and. all(coords == -1), 'a grid without dimensions writes none')
  call MPI_Comm_free(grid)
  call MPI_Cart_create(MPI_COMM_SELF, 2, [1, 1], [.true., .false.], .false., grid)
  periods = [.false., .true., .false., .true.]
  call MPI_Cart_get(grid, 4, dims, periods, coords)
  call expect(all(periods .eqv. [.true., .false., .false., .true.]), 'two dimensions write two')
  call MPI_Comm_free(grid)

  call MPI_Irecv(received, 1, MPI_INTEGER, 0, 99, MPI_COMM_SELF, request)
  call cancel_it(request)
  call MPI_Wait(request, status)
  call MPI_Test_cancelled(status, cancelled)
  call expect(cancelled, 'a receive is cancelled')

  call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 4000)
  sent = 44
  call MPI_Bsend(sent, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF)
  call MPI_Recv(received, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  call MPI_Buffer_detach(address, size)
  call expect(c_associated(address, c_loc(MPI_BUFFER_AUTOMATIC)), 'MPI_BUFFER_AUTOMATIC is what was attached')
  call MPI_Finalize()
  call end_checks()
end program
