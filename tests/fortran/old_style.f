! SPDX-License-Identifier: BSD-3-Clause
! mpif.h in fixed form: what old programs do, MPI-1's attributes among it.
      program old_style
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, req(2), stats(MPI_STATUS_SIZE, 2)
      integer keyval, value, extra, comm, i, n, outcount, places(2)
      integer op, group, ranges(3, 1), newgroup, failures
      double precision x(10), y(10)
      logical flag
      external copy, add
      integer copies
      common /counts/ copies
      failures = 0
      copies = 0
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)

      do 10 i = 1, 10
         x(i) = rank * 10 + i
         y(i) = 0
 10   continue
      call MPI_IRECV(y, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 7,
     &               MPI_COMM_WORLD, req(1), ierr)
      call MPI_ISEND(x, 10, MPI_DOUBLE_PRECISION, mod(rank+1, size), 7,
     &               MPI_COMM_WORLD, req(2), ierr)
      call MPI_WAITALL(2, req, stats, ierr)
      call MPI_GET_COUNT(stats(1,1), MPI_DOUBLE_PRECISION, n, ierr)
      if (n .ne. 10 .or. stats(MPI_TAG,1) .ne. 7) failures = 1
      if (y(3) .ne. mod(rank+size-1, size) * 10 + 3) failures = 2
      if (req(1) .ne. MPI_REQUEST_NULL) failures = 3

      call MPI_KEYVAL_CREATE(copy, MPI_NULL_DELETE_FN, keyval, 5, ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, keyval, -40, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_ATTR_GET(comm, keyval, value, flag, ierr)
      if (.not. flag .or. value .ne. -35 .or. copies .ne. 1) failures=4
      call MPI_ATTR_DELETE(MPI_COMM_WORLD, keyval, ierr)
      call MPI_ATTR_DELETE(comm, keyval, ierr)
      call MPI_KEYVAL_FREE(keyval, ierr)
      call MPI_ATTR_GET(comm, MPI_TAG_UB, value, flag, ierr)
      if (.not. flag .or. value .lt. 16384 * 1024) failures = 5
      call MPI_COMM_FREE(comm, ierr)

      call MPI_OP_CREATE(add, .true., op, ierr)
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 10, MPI_DOUBLE_PRECISION, op,
     &                   MPI_COMM_WORLD, ierr)
      if (x(1) .ne. size + 5 * size * (size - 1)) failures = 6
      call MPI_OP_FREE(op, ierr)

      call MPI_COMM_GROUP(MPI_COMM_WORLD, group, ierr)
      ranges(1, 1) = size - 1
      ranges(2, 1) = 0
      ranges(3, 1) = -1
      call MPI_GROUP_RANGE_INCL(group, 1, ranges, newgroup, ierr)
      call MPI_GROUP_RANK(newgroup, n, ierr)
      if (n .ne. size - 1 - rank) failures = 7
      call MPI_GROUP_FREE(group, ierr)
      call MPI_GROUP_FREE(newgroup, ierr)

      req(1) = MPI_REQUEST_NULL
      call MPI_IBARRIER(MPI_COMM_WORLD, req(2), ierr)
      call MPI_WAITSOME(2, req, outcount, places, MPI_STATUSES_IGNORE,
     &                  ierr)
      if (outcount .ne. 1 .or. places(1) .ne. 2) failures = 8
      if (failures .ne. 0) print *, 'FAILED: check', failures
      call MPI_FINALIZE(ierr)
      if (failures .ne. 0) stop 1
      end

      subroutine copy(comm, keyval, extra, in, out, flag, ierr)
      integer comm, keyval, extra, in, out, ierr, copies
      logical flag
      common /counts/ copies
      copies = copies + 1
      out = in + extra
      flag = .true.
      ierr = 0
      end

      subroutine add(a, b, n, datatype)
      integer n, datatype, i
      double precision a(n), b(n)
      do 20 i = 1, n
         b(i) = a(i) + b(i)
 20   continue
      end
