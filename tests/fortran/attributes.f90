! SPDX-License-Identifier: BSD-3-Clause
! Attributes between languages (MPI 5.0, 19.3.7): set by C, by MPI_ATTR_PUT with INTEGERs and by MPI_Comm_set_attr with
! address-sized integers, and read by all three.
module old_attributes
  use mpi
  implicit none
  integer, parameter :: wide = MPI_ADDRESS_KIND
contains
  subroutine put_old(comm, key, value)
    integer, intent(in) :: comm, key, value
    integer :: ierror
    call MPI_Attr_put(comm, key, value, ierror)
  end subroutine
  integer function get_old(comm, key)
    integer, intent(in) :: comm, key
    integer :: ierror
    logical :: flag
    call MPI_Attr_get(comm, key, get_old, flag, ierror)
    if (.not. flag) get_old = -999
  end function
  subroutine old_key(key)
    integer, intent(out) :: key
    integer :: ierror
    call MPI_Keyval_create(double, MPI_NULL_DELETE_FN, key, 0, ierror)
  end subroutine
  subroutine double(comm, key, extra_state, value_in, value_out, flag, ierror)
    integer :: comm, key, extra_state, value_in, value_out, ierror
    logical :: flag
    value_out = 2 * value_in
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
end module

program attributes
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use check
  use old_attributes, only: put_old, get_old, old_key, wide
  implicit none
  interface
    integer(c_int) function key_of_c() bind(C)
      import
    end function
    integer(wide) function set_in_c(comm, key) bind(C)
      import
      integer(c_int), value :: comm, key
    end function
    integer(c_int) function has_pointer_of_c(comm, key) bind(C)
      import
      integer(c_int), value :: comm, key
    end function
    integer(c_int) function integer_in_c(comm, key) bind(C)
      import
      integer(c_int), value :: comm, key
    end function
    integer(wide) function address_sized_in_c(comm, key) bind(C)
      import
      integer(c_int), value :: comm, key
    end function
  end interface
  integer(wide), parameter :: large = 5000000007_wide
  type(MPI_Comm) :: comm
  integer :: key, i

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_SELF, comm)
  key = key_of_c()
  call each_way(key)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_wide)
  call each_way(key)
  call copies(key)
  do i = 1, 5000  ! more values than any table begins with
    call MPI_Comm_set_attr(comm, key, i * large)
  end do
  call expect(address_sized_in_c(comm%MPI_VAL, key) == 5000 * large, 'many values')
  call MPI_Comm_free(comm)
  call MPI_Finalize()
  call end_checks()

contains

  ! Sets an attribute in each language and reads it in all: the key does not depend on the language.
  subroutine each_way(key)
    integer, intent(in) :: key
    integer(wide) :: pointer
    pointer = set_in_c(comm%MPI_VAL, key)
    call expect(has_pointer_of_c(comm%MPI_VAL, key) == 1, 'a pointer of C in C')
    call expect(get_new(key) == pointer, 'a pointer of C in new Fortran')
    call expect(get_old(comm%MPI_VAL, key) == lower(pointer), 'a pointer of C in old Fortran')

    call put_old(comm%MPI_VAL, key, -42)
    call expect(integer_in_c(comm%MPI_VAL, key) == -42, 'an INTEGER in C')
    call expect(get_new(key) == -42, 'an INTEGER in new Fortran')
    call expect(get_old(comm%MPI_VAL, key) == -42, 'an INTEGER in old Fortran')

    call MPI_Comm_set_attr(comm, key, large)
    call expect(address_sized_in_c(comm%MPI_VAL, key) == large, 'an address-sized integer in C')
    call expect(get_new(key) == large, 'an address-sized integer in new Fortran')
    call expect(get_old(comm%MPI_VAL, key) == lower(large), 'an address-sized integer in old Fortran')
    call MPI_Comm_delete_attr(comm, key)
    call expect(get_new(key) == -999 .and. get_old(comm%MPI_VAL, key) == -999, 'no attribute')
  end subroutine

  integer(wide) function get_new(key)
    integer, intent(in) :: key
    logical :: flag
    call MPI_Comm_get_attr(comm, key, get_new, flag)
    if (.not. flag) get_new = -999
  end function

  integer function lower(value)
    integer(wide), intent(in) :: value
    lower = transfer(value, lower)
  end function

  ! Tests that each language can read an attribute that was copied with a communicator.
  subroutine copies(key)
    integer, intent(in) :: key
    type(MPI_Comm) :: dup
    integer :: doubling
    integer(wide) :: value, pointer
    logical :: flag
    call old_key(doubling)
    pointer = set_in_c(comm%MPI_VAL, key)
    call put_old(comm%MPI_VAL, doubling, 21)
    call MPI_Comm_dup(comm, dup)
    call expect(has_pointer_of_c(dup%MPI_VAL, key) == 1, 'a copied pointer of C')
    call expect(integer_in_c(dup%MPI_VAL, doubling) == 42, 'a copied INTEGER in C')
    call MPI_Comm_get_attr(dup, doubling, value, flag)
    call expect(flag .and. value == 42, 'a copied INTEGER in new Fortran')
    call MPI_Comm_free(dup)
    call MPI_Comm_free_keyval(doubling)
  end subroutine
end program
