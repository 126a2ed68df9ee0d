// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

namespace {

TEST(Version, is_the_standard_that_the_header_speaks) {
    int version = 0;
    int subversion = -1;
    ASSERT_EQ(PMPI_Get_version(&version, &subversion), MPI_SUCCESS);
    EXPECT_EQ(version, 5);
    EXPECT_EQ(subversion, 0);
}

TEST(Version, of_the_abi_is_one_zero) {
    int major = 0;
    int minor = -1;
    ASSERT_EQ(PMPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    EXPECT_EQ(major, 1);
    EXPECT_EQ(minor, 0);
}

TEST(Version, of_the_library_has_the_length_it_says) {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '?');
    int length = 0;
    ASSERT_EQ(PMPI_Get_library_version(text.data(), &length), MPI_SUCCESS);
    EXPECT_EQ(text.find('\0'), static_cast<std::size_t>(length));
    EXPECT_EQ(text.rfind("Heddle ", 0), 0u);
}

}  // namespace
