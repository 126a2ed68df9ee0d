! SPDX-License-Identifier: BSD-3-Clause
! Counts the errors that a test finds. Several threads may check at the same time.
module check
  implicit none
  private
  public :: expect, end_checks
  integer :: failures = 0
contains
  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    !$omp atomic
    failures = failures + 1
    print '(2a)', 'FAILED: ', what
  end subroutine
  subroutine end_checks()
    if (failures > 0) stop 1
  end subroutine
end module
