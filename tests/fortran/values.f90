! SPDX-License-Identifier: BSD-3-Clause
! Things that Fortran sees otherwise than C: constants, strings, LOGICALs, statuses, sizes of types, the ABI's questions.
! Handles and statuses go to C and come back.
program values
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_f_pointer, c_loc
  use mpi_f08
  use check
  implicit none
  interface
    integer(c_int) function handle_in_c(comm) bind(C)
      import
      integer(c_int), value :: comm
    end function
    integer(c_int) function statuses_in_c(f_status, f08_status) bind(C)
      import
      integer(c_int) :: f_status(*)
      type(MPI_Status) :: f08_status
    end function
    integer(c_int) function ignored_in_c(f_status, f08_status) bind(C)
      import
      type(MPI_Status) :: f_status, f08_status
    end function
  end interface
  integer :: rank, size

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call constants()
  call strings()
  call info()
  call sizes()
  call statuses()
  call logicals()
  call memory()
  call abi()
  call from_c()
  call names_of_errors()
  call MPI_Finalize()
  call end_checks()

contains

  subroutine constants()
    call expect(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'what is supported')
    call expect(MPI_VERSION == 5 .and. MPI_SUBVERSION == 0, 'the version')
    call expect(MPI_MAX_PROCESSOR_NAME == 255, 'lengths of strings are without the null character')
    call expect(MPI_COMM_WORLD%MPI_VAL == 257 .and. MPI_INTEGER%MPI_VAL == 537, 'handles are the constants of the ABI')
    call expect(MPI_DISPLACEMENT_CURRENT == -1_MPI_OFFSET_KIND, 'an offset')
    call expect(MPI_COMM_WORLD /= MPI_COMM_SELF .and. MPI_COMM_WORLD == MPI_COMM_WORLD, 'handles are compared')
    call expect(count([MPI_INTEGER, MPI_REAL, MPI_INTEGER] == MPI_INTEGER) == 2, 'arrays of handles are compared')
  end subroutine

  subroutine strings()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=4) :: short
    character(len=300) :: long
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length
    call MPI_Comm_set_name(MPI_COMM_SELF, ' a name  ')
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length)
    call expect(length == 7 .and. name == ' a name', 'blanks at the end are no part of a name')
    call MPI_Comm_get_name(MPI_COMM_SELF, short, length)
    call expect(short == ' a n' .and. length == 7, 'a name that is too long is cut')
    long = repeat('x', 300)
    call MPI_Comm_set_name(MPI_COMM_SELF, long)
    call MPI_Comm_get_name(MPI_COMM_SELF, name, length)
    call expect(length == MPI_MAX_OBJECT_NAME .and. name == long(:MPI_MAX_OBJECT_NAME), 'as long as it may be')
    call MPI_Get_library_version(version, length)
    call expect(index(version(:length), 'Heddle') > 0, 'the version of the library')
  end subroutine

  subroutine info()
    type(MPI_Info) :: i
    character(len=20) :: value
    character(len=3) :: short
    integer :: length
    logical :: flag
    call MPI_Info_create(i)
    call MPI_Info_set(i, ' key ', '  the value  ')
    length = 20
    call MPI_Info_get_string(i, 'key', length, value, flag)
    call expect(flag .and. length == 9 .and. value == 'the value', 'Info_get_string')
    length = 3
    call MPI_Info_get_string(i, 'key', length, short, flag)
    call expect(flag .and. length == 9 .and. short == 'the', 'a value that is cut')
    length = 0
    call MPI_Info_get_string(i, 'key', length, value, flag)
    call expect(flag .and. length == 9, 'the length of a value')
    call MPI_Info_get_string(i, 'other', length, value, flag)
    call expect(.not. flag, 'no value')
    call MPI_Info_free(i)
    call expect(i == MPI_INFO_NULL, 'a freed info')
  end subroutine

  subroutine sizes()
    type(MPI_Datatype) :: datatype
    integer :: bytes
    character(len=5) :: text
    call MPI_Sizeof(1_2, bytes)
    call expect(bytes == 2, 'INTEGER(2)')
    call MPI_Sizeof((1d0, 2d0), bytes)
    call expect(bytes == 16, 'a complex number')
    call MPI_Sizeof([.true., .false.], bytes)
    call expect(bytes == 4, 'LOGICAL')
    text = 'abcde'
    call MPI_Sizeof(text, bytes)
    call expect(bytes == 5, 'a string')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, datatype)
    call MPI_Type_size(datatype, bytes)
    call expect(bytes == 8, 'Type_match_size')
    call MPI_Type_create_f90_real(6, MPI_UNDEFINED, datatype)
    call MPI_Type_size(datatype, bytes)
    call expect(bytes == 4, 'Type_create_f90_real')
  end subroutine

  subroutine statuses()
    integer :: array(MPI_STATUS_SIZE), n
    type(MPI_Status) :: status, again
    call MPI_Sendrecv([rank], 1, MPI_INTEGER, mod(rank + 1, size), 5, n, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
      MPI_COMM_WORLD, status)
    call expect(status%MPI_SOURCE == mod(rank + size - 1, size) .and. status%MPI_TAG == 5, 'a status')
    call MPI_Status_f082f(status, array)
    call expect(array(MPI_STATUS_SIZE) == array(8) .and. array(1) == status%MPI_SOURCE .and. array(2) == 5, 'as array')
    call MPI_Status_f2f08(array, again)
    call MPI_Get_count(again, MPI_INTEGER, n)
    call expect(n == 1 .and. again%MPI_TAG == 5, 'and back')
    call expect(statuses_in_c(array, status) == 0, 'in C')
    call expect(ignored_in_c(MPI_STATUS_IGNORE, MPI_STATUS_IGNORE) == 1, 'the status that C ignores')
  end subroutine

  subroutine logicals()
    type(MPI_Comm) :: grid, row
    integer :: dims(2), coords(2)
    logical :: periods(2), remain(2), flag
    dims = [size, 1]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid)
    call MPI_Cart_get(grid, 2, dims, periods, coords)
    call expect(periods(1) .and. .not. periods(2) .and. all(dims == [size, 1]), 'periods')
    remain = [.false., .true.]
    call MPI_Cart_sub(grid, remain, row)
    call MPI_Comm_size(row, dims(1))
    call expect(dims(1) == 1, 'remaining dimensions')
    call MPI_Comm_test_inter(grid, flag)
    call expect(.not. flag .and. transfer(flag, 1) == 0, 'false is 0')
    call MPI_Initialized(flag)
    call expect(flag .and. transfer(flag, 1) == 1, 'true is 1')
    call MPI_Comm_free(row)
    call MPI_Comm_free(grid)
  end subroutine

  subroutine memory()
    type(c_ptr) :: address
    integer, pointer :: numbers(:)
    integer, asynchronous :: i, a(4)
    integer(MPI_ADDRESS_KIND) :: first, third
    call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, address)
    call c_f_pointer(address, numbers, [1000])
    numbers = [(i, i = 1, 1000)]
    call expect(sum(numbers) == 500500, 'memory of MPI')
    call MPI_Free_mem(numbers)
    call MPI_Get_address(a(1), first)
    call MPI_Get_address(a(3), third)
    call expect(MPI_Aint_diff(third, first) == 8 .and. MPI_Aint_add(first, 8_MPI_ADDRESS_KIND) == third, 'addresses')
    call MPI_F_sync_reg(a)
    call expect(MPI_Wtime() > 0 .and. MPI_Wtick() < 1, 'time')
  end subroutine

  subroutine abi()
    type(MPI_Info) :: about
    integer :: major, minor, length
    logical :: known
    logical(8) :: yes, no
    character(len=10) :: value
    logical :: flag
    call MPI_Abi_get_version(major, minor)
    call expect(major == 1 .and. minor == 0, 'the version of the ABI')
    call MPI_Abi_get_fortran_info(about)
    length = 10
    call MPI_Info_get_string(about, 'mpi_logical_size', length, value, flag)
    call expect(flag .and. value == '4', 'the size of LOGICAL')
    call MPI_Info_free(about)
    call MPI_Abi_get_fortran_booleans(8, yes, no, known)
    call expect(logical(known .and. yes .and. .not. no), 'values of LOGICAL(8)')
  end subroutine

  subroutine from_c()
    type(MPI_Comm) :: comm
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call expect(handle_in_c(comm%MPI_VAL) == size, 'a handle in C')
    call MPI_Comm_free(comm)
  end subroutine

  subroutine names_of_errors()
    character(len=MPI_MAX_ERROR_STRING) :: text
    integer :: length, code, status
    integer, asynchronous :: one(1)
    type(MPI_Request) :: r
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Send([1], 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF, code)
    call expect(code /= MPI_SUCCESS, 'an error that returns')
    call MPI_Irecv(one, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, r, status)
    call expect(status /= MPI_SUCCESS .and. r == MPI_REQUEST_NULL, 'no request after an error')
    call MPI_Error_string(code, text, length)
    call expect(length > 0 .and. text(length:length) /= ' ', 'what it says')
    call MPI_Error_class(MPI_T_ERR_INVALID_HANDLE, code)
    call expect(code == MPI_T_ERR_INVALID_HANDLE .and. code /= MPI_T_ERR_MEMORY, 'classes of the tool interface')
  end subroutine
end program
