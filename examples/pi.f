! SPDX-License-Identifier: BSD-3-Clause
! The number pi, by the area under 4 / (1 + x*x), with mpif.h: every rank takes every size-th strip.
      program pi
      implicit none
      include 'mpif.h'
      integer strips, rank, ranks, i, ierr
      double precision width, x, mine, all
      parameter (strips = 100000)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      width = 1d0 / strips
      mine = 0
      do 10 i = rank + 1, strips, ranks
         x = width * (i - 0.5d0)
         mine = mine + width * 4 / (1 + x * x)
 10   continue
      call MPI_REDUCE(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &                MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) then
         if (abs(all - acos(-1d0)) .le. 1d-9) then
            print *, 'pi is nearly', all, ', correct'
         else
            print *, 'pi is nearly', all, ', WRONG'
            call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
         end if
      end if
      call MPI_FINALIZE(ierr)
      end
