// SPDX-License-Identifier: BSD-3-Clause
/* Exceptions that leave functions of the program pass through MPI to the program. No lock stays
   held, and no request is lost: the same calls work afterwards. */
#include <pthread.h>

#include <stdexcept>
#include <string>

#include "check.h"

namespace {

struct Thrown : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Returns whether the call throws an `Exception`.
template <class Exception, class Call>
bool throws(Call&& call) {
    try {
        call();
    } catch (const Exception&) {
        return true;
    } catch (...) {}
    return false;
}

int rank, size;
bool throwing = true;
MPI_Comm world;

/// Makes library calls that take every lock that there is.
void use_everything() {
    MPI_Comm copy;
    int one = 1, sum = 0;
    OK(MPI_Comm_dup(world, &copy));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == size);
    OK(MPI_Comm_free(&copy));
}

void throw_error(MPI_Comm*, int* code, ...) { throw Thrown(std::to_string(*code)); }
void throw_number(MPI_Comm*, int*, ...) { throw 17; }
void throw_bad_alloc(MPI_Comm*, int*, ...) { throw std::bad_alloc(); }
void nested(MPI_Comm*, int*, ...) {
    int number = 0;
    CHECK(throws<Thrown>([&] { MPI_Send(&number, 1, MPI_INT, 12345, 0, world); }));
    throw 18;
}

void error_handlers() {
    MPI_Errhandler handlers[4];
    MPI_Comm other;
    int number = 0;
    OK(MPI_Comm_create_errhandler(throw_error, &handlers[0]));
    OK(MPI_Comm_create_errhandler(throw_number, &handlers[1]));
    OK(MPI_Comm_create_errhandler(throw_bad_alloc, &handlers[2]));
    OK(MPI_Comm_create_errhandler(nested, &handlers[3]));
    OK(MPI_Comm_dup(world, &other));
    OK(MPI_Comm_set_errhandler(world, handlers[0]));
    CHECK(throws<Thrown>([&] { MPI_Send(&number, 1, MPI_INT, 12345, 0, world); }));
    CHECK(throws<Thrown>([&] { MPI_Bcast(&number, -1, MPI_INT, 0, world); }));
    CHECK(throws<Thrown>([&] { MPI_Comm_call_errhandler(world, MPI_ERR_OTHER); }));
    OK(MPI_Comm_set_errhandler(other, handlers[1]));
    CHECK(throws<int>([&] { MPI_Send(&number, 1, MPI_INT, 12345, 0, other); }));
    OK(MPI_Comm_set_errhandler(other,
                               /* The program's exception; the library's would be MPI_ERR_NO_MEM. */
                               handlers[2]));
    CHECK(throws<std::bad_alloc>([&] { MPI_Send(&number, 1, MPI_INT, 12345, 0, other); }));
    OK(MPI_Comm_set_errhandler(other, handlers[3]));
    CHECK(throws<int>([&] { MPI_Send(&number, 1, MPI_INT, 12345, 0, other); }));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[0]));
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Info nothing = MPI_INFO_NULL;
    CHECK(throws<Thrown>([&] { MPI_Type_commit(&none); }));
    CHECK(throws<Thrown>([&] { MPI_Info_free(&nothing); }));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    for (MPI_Errhandler& handler : handlers) OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&other));
}

void add_or_throw(void* in, void* inout, int* length, MPI_Datatype*) {
    if (throwing) throw Thrown("in an operation");
    for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// Returns whether a result is as expected. Both of two processes combine if all get the result; a
/// single process does not.
bool as_expected(bool failed, bool fails) {
    if (size == 1) return !failed;
    return size == 2 ? failed == fails : fails || !failed;
}

/// The messages of a call go on after its operation has thrown.
void operations() {
    constexpr int large = 200000;
    static int in[large], out[large];
    MPI_Op op;
    OK(MPI_Op_create(add_or_throw, 1, &op));
    CHECK(throws<Thrown>([&] { MPI_Reduce_local(in, out, 1, MPI_INT, op); }));
    for (const int count : {1, 1000, large}) {
        for (const bool fails : {true, false}) {
            throwing = fails;
            for (int i = 0; i < count; ++i) in[i] = rank + i;
            const bool threw =
                throws<Thrown>([&] { OK(MPI_Allreduce(in, out, count, MPI_INT, op, world)); });
            CHECK(as_expected(threw, fails));
            if (!fails) CHECK(out[count - 1] == size * (size - 1) / 2 + size * (count - 1));
            const bool threw_at_root =
                throws<Thrown>([&] { OK(MPI_Reduce(in, out, count, MPI_INT, op, 0, world)); });
            CHECK(rank != 0 || as_expected(threw_at_root, fails));
            /* No frame of the program may be there to catch it: the request fails. */
            MPI_Request request;
            OK(MPI_Iallreduce(in, out, count, MPI_INT, op, world, &request));
            const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(error == MPI_SUCCESS || error == MPI_ERR_OTHER);
            CHECK(as_expected(error != MPI_SUCCESS, fails));
            use_everything();
        }
    }
    OK(MPI_Op_free(&op));
}

int throw_copy(MPI_Comm, int, void*, void* in, void* out, int* flag) {
    if (throwing) throw Thrown("in a copy function");
    *static_cast<void**>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
}
int throw_delete(MPI_Comm, int, void*, void*) {
    if (throwing) throw Thrown("in a delete function");
    return MPI_SUCCESS;
}
int throw_type_copy(MPI_Datatype, int, void*, void*, void*, int*) { throw Thrown("of a type"); }

void attributes() {
    MPI_Comm comm, copy = MPI_COMM_NULL;
    int key = 0, flag = 0;
    void* value = nullptr;
    throwing = true;
    OK(MPI_Comm_dup(world, &comm));
    OK(MPI_Comm_create_keyval(throw_copy, throw_delete, &key, nullptr));
    OK(MPI_Comm_set_attr(comm, key, &key));
    throwing = false;
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&copy));
    throwing = true;
    CHECK(throws<Thrown>([&] { MPI_Comm_delete_attr(comm, key); }));
    CHECK(throws<Thrown>([&] { MPI_Comm_set_attr(comm, key, nullptr); }));
    CHECK(throws<Thrown>([&] { MPI_Comm_free(&comm); }));
    OK(MPI_Comm_get_attr(comm, key, &value, &flag)); /* the attribute is still there */
    CHECK(flag && value == &key);
    CHECK(throws<Thrown>([&] { MPI_Comm_dup(comm, &copy); }));
    CHECK(copy == MPI_COMM_NULL);
    throwing = false;
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));

    MPI_Datatype type, twin = MPI_DATATYPE_NULL;
    OK(MPI_Type_create_keyval(throw_type_copy, MPI_TYPE_NULL_DELETE_FN, &key, nullptr));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, key, &key));
    CHECK(throws<Thrown>([&] { MPI_Type_dup(type, &twin); }));
    CHECK(twin == MPI_DATATYPE_NULL);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free_keyval(&key));
}

int throw_query(void*, MPI_Status* status) {
    if (throwing) throw Thrown("in a query function");
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
int throw_free(void*) { throw Thrown("in a free function"); }
int throw_cancel(void*, int) { throw Thrown("in a cancel function"); }

void generalized() {
    MPI_Request request;
    throwing = true;
    OK(MPI_Grequest_start(throw_query, throw_free, throw_cancel, nullptr, &request));
    CHECK(throws<Thrown>([&] { MPI_Cancel(&request); }));
    OK(MPI_Grequest_complete(request));
    CHECK(throws<Thrown>([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); }));
    CHECK(request != MPI_REQUEST_NULL); /* the request can be waited for again */
    throwing = false;
    CHECK(throws<Thrown>([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); }));
    CHECK(request == MPI_REQUEST_NULL);
}

/// A thread may end in a function of the program, which unwinds as an exception does.
void end_thread(MPI_Comm*, int*, ...) { pthread_exit(nullptr); }
void* fail_and_end(void*) {
    int number = 0;
    MPI_Send(&number, 1, MPI_INT, 12345, 0, world);
    return &world; /* never reached */
}
void thread_that_ends() {
    MPI_Errhandler handler;
    pthread_t thread;
    void* result = &thread;
    OK(MPI_Comm_create_errhandler(end_thread, &handler));
    OK(MPI_Comm_set_errhandler(world, handler));
    CHECK(pthread_create(&thread, nullptr, fail_and_end, nullptr) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == nullptr);
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
}

void throw_session(MPI_Session*, int*, ...) { throw Thrown("of a session"); }
void sessions() {
    MPI_Errhandler handler;
    MPI_Session session;
    MPI_Group group;
    OK(MPI_Session_create_errhandler(throw_session, &handler));
    CHECK(throws<Thrown>([&] { MPI_Session_init(MPI_INFO_NULL, handler, nullptr); }));
    OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    CHECK(throws<Thrown>([&] { MPI_Group_from_session_pset(session, "none", &group); }));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Session_finalize(&session));
}

}  // namespace

int main() {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    void (*const all[])() = {error_handlers, operations,       attributes,
                             generalized,    thread_that_ends, sessions};
    for (const auto part : all) {
        part();
        use_everything();
    }
    OK(MPI_Comm_free(&world));
    MPI_Finalize();
    return 0;
}
