! SPDX-License-Identifier: BSD-3-Clause
! Files by mpi_f08, mpi and, within the latter, mpif.h. The tests compare the contents of files element by element. MPI
! calls back a representation of the program's own, and an error handler.
module procedures
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: handled = MPI_SUCCESS, written = 0, read_back = 0
contains
  subroutine handle(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    handled = error_code
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 8
    ierror = MPI_SUCCESS
    if (extra_state /= 4711) ierror = MPI_ERR_OTHER
  end subroutine

  ! Writes an integer of 4 bytes as two: itself, and itself with the other sign.
  subroutine write_conversion(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror, i
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [2 * count])
    do i = 1, count
      file(2 * i - 1) = user(int(position) + i)
      file(2 * i) = -user(int(position) + i)
    end do
    written = written + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine read_conversion(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror, i
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [2 * count])
    ierror = MPI_SUCCESS
    do i = 1, count
      if (file(2 * i - 1) /= -file(2 * i)) ierror = MPI_ERR_OTHER
      user(int(position) + i) = file(2 * i - 1)
    end do
    read_back = read_back + count
  end subroutine
end module

! A representation in the style of mpif.h: procedures without a module, handles that are integers.
subroutine old_extent(datatype, extent, extra_state, ierror)
  use mpi
  implicit none
  integer :: datatype, ierror
  integer(MPI_ADDRESS_KIND) :: extent, extra_state
  extent = 4
  ierror = MPI_SUCCESS
  if (datatype /= MPI_INTEGER .or. extra_state /= 13) ierror = MPI_ERR_OTHER
end subroutine

subroutine old_write(userbuf, datatype, count, filebuf, position, extra_state, ierror)
  use mpi
  implicit none
  integer :: userbuf(*), filebuf(*), datatype, count, ierror
  integer(MPI_OFFSET_KIND) :: position
  integer(MPI_ADDRESS_KIND) :: extra_state
  filebuf(1:count) = userbuf(position + 1:position + count) + int(extra_state)
  ierror = MPI_SUCCESS
end subroutine

subroutine old_read(userbuf, datatype, count, filebuf, position, extra_state, ierror)
  use mpi
  implicit none
  integer :: userbuf(*), filebuf(*), datatype, count, ierror
  integer(MPI_OFFSET_KIND) :: position
  integer(MPI_ADDRESS_KIND) :: extra_state
  userbuf(position + 1:position + count) = filebuf(1:count) - int(extra_state)
  ierror = MPI_SUCCESS
end subroutine

module by_mpi
  use mpi
  implicit none
contains
  subroutine own_representation(name, rank, good)
    character(len=*), intent(in) :: name
    integer, intent(in) :: rank
    logical, intent(out) :: good
    integer :: file, ierror, mine(5), back(5)
    integer :: status(MPI_STATUS_SIZE)
    integer(MPI_OFFSET_KIND) :: offset
    integer(MPI_ADDRESS_KIND) :: extra_state
    external :: old_extent, old_write, old_read
    extra_state = 13
    call MPI_REGISTER_DATAREP('plus', old_read, old_write, old_extent, extra_state, ierror)
    good = ierror == MPI_SUCCESS
    call MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
    offset = 0
    call MPI_FILE_SET_VIEW(file, offset, MPI_INTEGER, MPI_INTEGER, 'plus', MPI_INFO_NULL, ierror)
    good = good .and. ierror == MPI_SUCCESS
    mine = 100 * rank
    back = -1
    offset = 5 * rank
    call MPI_FILE_WRITE_AT(file, offset, mine, 5, MPI_INTEGER, status, ierror)
    good = good .and. ierror == MPI_SUCCESS
    call MPI_FILE_READ_AT(file, offset, back, 5, MPI_INTEGER, status, ierror)
    good = good .and. all(back == mine)
    offset = 0
    call MPI_FILE_SET_VIEW(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    offset = 5 * rank
    call MPI_FILE_READ_AT(file, offset, back, 5, MPI_INTEGER, status, ierror)
    good = good .and. all(back == mine + 13)
    call MPI_FILE_CLOSE(file, ierror)
  end subroutine

  subroutine use_mpi(name, rank, size, good)
    character(len=*), intent(in) :: name
    integer, intent(in) :: rank, size
    logical, intent(out) :: good
    integer :: file, ierror, filetype, count, request, info, used, length
    integer :: status(MPI_STATUS_SIZE), mine(10), back(10)
    integer(MPI_OFFSET_KIND) :: offset, bytes
    character(len=64) :: value
    logical :: flag
    mine = rank
    back = -1
    call MPI_INFO_CREATE(info, ierror)
    call MPI_INFO_SET(info, 'cb_buffer_size', '8192', ierror)
    call MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, info, file, ierror)
    good = ierror == MPI_SUCCESS
    call MPI_FILE_GET_INFO(file, used, ierror)
    length = 64
    call MPI_INFO_GET_STRING(used, 'cb_buffer_size', length, value, flag, ierror)
    good = good .and. flag .and. value == '8192'
    call MPI_INFO_FREE(used, ierror)
    call MPI_INFO_FREE(info, ierror)
    call MPI_TYPE_VECTOR(10, 1, size, MPI_INTEGER, filetype, ierror)
    call MPI_TYPE_COMMIT(filetype, ierror)
    offset = 4 * rank
    call MPI_FILE_SET_VIEW(file, offset, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, ierror)
    call MPI_FILE_WRITE_ALL(file, mine, 10, MPI_INTEGER, status, ierror)
    call MPI_GET_COUNT(status, MPI_INTEGER, count, ierror)
    good = good .and. count == 10
    offset = 0
    call MPI_FILE_SEEK(file, offset, MPI_SEEK_SET, ierror)
    call MPI_FILE_IREAD(file, back, 10, MPI_INTEGER, request, ierror)
    call MPI_WAIT(request, status, ierror)
    good = good .and. all(back == rank)
    call MPI_BARRIER(MPI_COMM_WORLD, ierror)
    call MPI_FILE_GET_SIZE(file, bytes, ierror)
    good = good .and. bytes == 40 * size
    call MPI_FILE_SEEK(file, -offset - 1, MPI_SEEK_SET, ierror)
    good = good .and. ierror == MPI_ERR_ARG
    call MPI_FILE_CLOSE(file, ierror)
    good = good .and. ierror == MPI_SUCCESS .and. file == MPI_FILE_NULL
    call MPI_TYPE_FREE(filetype, ierror)
  end subroutine
end module

program files
  use mpi_f08
  use procedures
  use by_mpi, only: use_mpi, own_representation
  use check
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function getpid() bind(C, name='getpid')
      import c_int
    end function
  end interface
  integer :: rank, size, ierror, count, i, id
  integer :: mine(4), back(4), section(2, 4)
  logical :: good, flag
  character(len=100) :: name
  character(len=MPI_MAX_DATAREP_STRING) :: representation
  type(MPI_File) :: file
  type(MPI_Errhandler) :: handler
  type(MPI_Datatype) :: etype, filetype
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  integer(MPI_OFFSET_KIND) :: place
  integer(MPI_ADDRESS_KIND) :: extent
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  id = getpid()
  call MPI_Bcast(id, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
  write (name, '(a, i0)') '/tmp/heddle-fortran-files-', id
  call use_mpi(trim(name), rank, size, good)
  call expect(good, 'a file by the module mpi')
  call own_representation(trim(name), rank, good)
  call expect(good, 'a representation by the module mpi')

  call MPI_Register_datarep('mirror', read_conversion, write_conversion, extent_of, 4711_MPI_ADDRESS_KIND, ierror)
  call expect(ierror == MPI_SUCCESS, 'a representation is registered')
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, file)
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'mirror', MPI_INFO_NULL, ierror)
  call expect(ierror == MPI_SUCCESS, 'a view in a representation of the program')
  call MPI_File_get_type_extent(file, MPI_INTEGER, extent)
  call expect(extent == 8, 'the extent of an integer in it')
  mine = [(10 * rank + i, i = 1, 4)]
  call MPI_File_write_at_all(file, 4_MPI_OFFSET_KIND * rank, mine, 4, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call expect(count == 4 .and. written == 4, 'four integers are written')
  back = 0
  call MPI_File_read_at(file, 4_MPI_OFFSET_KIND * rank, back, 4, MPI_INTEGER, status)
  call expect(all(back == mine) .and. read_back == 4, 'and read')
  call MPI_File_get_view(file, place, etype, filetype, representation)
  call expect(place == 0 .and. etype == MPI_INTEGER .and. representation == 'mirror', 'the view is told')

  ! An array section with gaps, by a nonblocking call.
  call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL)
  section = -1
  section(1, :) = mine
  call MPI_File_iwrite_at(file, 4_MPI_OFFSET_KIND * rank, section(1, :), 4, MPI_INTEGER, request, ierror)
  if (ierror == MPI_SUCCESS) then
    call MPI_Wait(request, status)
    back = 0
    call MPI_File_read_at_all(file, 4_MPI_OFFSET_KIND * rank, back, 4, MPI_INTEGER, status)
    call expect(all(back == mine), 'a section is written')
  end if
  call MPI_File_write_ordered_begin(file, mine, 4, MPI_INTEGER)
  call MPI_File_write_ordered_end(file, mine, status)
  call MPI_File_get_position_shared(file, place)
  call expect(place == 4 * size, 'the shared pointer has moved')
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, flag)
  call expect(flag, 'atomic mode')

  call MPI_File_create_errhandler(handle, handler)
  call MPI_File_set_errhandler(file, handler)
  call MPI_File_seek(file, -1_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
  call expect(ierror == MPI_ERR_ARG .and. handled == MPI_ERR_ARG, 'the error handler is called')
  call MPI_Errhandler_free(handler)
  call MPI_File_close(file)
  call expect(file == MPI_FILE_NULL, 'the handle is null')
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL)
  call MPI_Finalize()
  call end_checks()
end program
