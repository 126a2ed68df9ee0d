! SPDX-License-Identifier: BSD-3-Clause
! A representation of the program's own with large counts, by mpi_f08.
module conversions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
contains
  subroutine extent_of_same(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine

  ! Returns the program's elements from `position` on, and those of the file.
  subroutine both_sides(userbuf, filebuf, count, position, user, file)
    type(c_ptr), value :: userbuf, filebuf
    integer(MPI_COUNT_KIND), intent(in) :: count
    integer(MPI_OFFSET_KIND), intent(in) :: position
    integer, pointer, intent(out) :: user(:), file(:)
    integer, pointer :: all(:)
    call c_f_pointer(userbuf, all, [int(position + count)])
    user => all(position + 1:)
    call c_f_pointer(filebuf, file, [int(count)])
  end subroutine

  subroutine large_write(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call both_sides(userbuf, filebuf, count, position, user, file)
    file = not(user)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine large_read(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer(MPI_COUNT_KIND) :: count
    integer :: ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call both_sides(userbuf, filebuf, count, position, user, file)
    user = not(file)
    ierror = MPI_SUCCESS
  end subroutine
end module

program files_large
  use mpi_f08
  use conversions
  use check
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function getpid() bind(C, name='getpid')
      import c_int
    end function
  end interface
  integer :: rank, ierror, i, id
  integer :: mine(4), back(4)
  character(len=100) :: name
  type(MPI_File) :: file
  type(MPI_Status) :: status
  integer(MPI_COUNT_KIND) :: count
  integer(MPI_OFFSET_KIND) :: place
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  id = getpid()
  call MPI_Bcast(id, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  write (name, '(a, i0)') '/tmp/heddle-fortran-large-files-', id
  call MPI_Register_datarep_c('complement', large_read, large_write, extent_of_same, 0_MPI_ADDRESS_KIND, ierror)
  call expect(ierror == MPI_SUCCESS, 'a representation with large counts is registered')
  call MPI_Register_datarep_c('complement', large_read, large_write, extent_of_same, 0_MPI_ADDRESS_KIND, ierror)
  call expect(ierror == MPI_ERR_DUP_DATAREP, 'and not again')
  call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'complement', MPI_INFO_NULL)
  mine = [(10 * rank + i, i = 1, 4)]
  place = 4 * rank
  count = 4
  call MPI_File_write_at_all(file, place, mine, count, MPI_INTEGER, status)
  back = 0
  call MPI_File_read_at(file, place, back, count, MPI_INTEGER, status)
  call expect(all(back == mine), 'four integers are written and read by it')
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
  call MPI_File_read_at(file, place, back, 4, MPI_INTEGER, status)
  call expect(all(back == not(mine)), 'their complements are in the file')
  call MPI_File_close(file)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL)
  call MPI_Finalize()
  call end_checks()
end program
