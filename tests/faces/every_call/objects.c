/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, info, names, datatypes, windows and files: functions that have no count. */
#include "every_call.h"

static int deletions;
static MPI_Win window;
static int delete_win(MPI_Win win, int key, void* value, void* extra) {
    CHECK(win == window && key != MPI_KEYVAL_INVALID && value == &window && extra == &deletions);
    ++deletions;
    return MPI_SUCCESS;
}

/* ---- Errors ---- */

static int handled, handled_code;
static MPI_Session session_of_errors;
static MPI_File file_of_errors;
static void handle_comm(MPI_Comm* comm, int* code, ...) {
    CHECK(*comm == world);
    ++handled, handled_code = *code;
}
static void handle_file(MPI_File* file, int* code, ...) {
    CHECK(*file == file_of_errors);
    ++handled, handled_code = *code;
}
static void handle_session(MPI_Session* session, int* code, ...) {
    CHECK(*session == session_of_errors);
    ++handled, handled_code = *code;
}
static void handle_win(MPI_Win* win, int* code, ...) {
    CHECK(*win == window);
    ++handled, handled_code = *code;
}
/* Sets a handler on an object of each kind. It comes back, and is called with the code. */
#define HANDLES_ERRORS(Object, function, object)                                \
    do {                                                                        \
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL, is = MPI_ERRHANDLER_NULL; \
        OK(MPI_##Object##_create_errhandler(function, &handler));               \
        CHECK(handler != MPI_ERRHANDLER_NULL);                                  \
        CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);      \
        OK(MPI_##Object##_set_errhandler(object, handler));                     \
        OK(MPI_##Object##_get_errhandler(object, &is));                         \
        CHECK(is != MPI_ERRHANDLER_NULL && is != MPI_ERRORS_RETURN);            \
        OK(MPI_Errhandler_free(&is));                                           \
        CHECK(is == MPI_ERRHANDLER_NULL);                                       \
        handled = 0;                                                            \
        (void)MPI_##Object##_call_errhandler(object, MPI_ERR_TRUNCATE);         \
        CHECK(handled == 1 && handled_code == MPI_ERR_TRUNCATE);                \
        OK(MPI_##Object##_set_errhandler(object, MPI_ERRORS_RETURN));           \
        OK(MPI_##Object##_get_errhandler(object, &is));                         \
        CHECK(is == MPI_ERRORS_RETURN);                                         \
        OK(MPI_Errhandler_free(&handler));                                      \
    } while (0)

static void errors(void) {
    HANDLES_ERRORS(Comm, handle_comm, world);
    OK(MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_of_errors));
    HANDLES_ERRORS(File, handle_file, file_of_errors);
    OK(MPI_File_close(&file_of_errors));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_of_errors));
    HANDLES_ERRORS(Session, handle_session, session_of_errors);
    OK(MPI_Session_finalize(&session_of_errors));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window));
    HANDLES_ERRORS(Win, handle_win, window);
    OK(MPI_Win_free(&window));

    int class = -1, code = -1, is = -1;
    char text[MPI_MAX_ERROR_STRING] = "";
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "an error of mine"));
    OK(MPI_Error_class(code, &is));
    CHECK(is == class);
    OK(MPI_Error_string(code, text, &is));
    CHECK(strcmp(text, "an error of mine") == 0 && is == (int)strlen(text));
    OK(MPI_Remove_error_string(code));
    OK(MPI_Error_string(code, text, &is));
    CHECK(strcmp(text, "an error of mine") != 0);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
    FAILS(MPI_Send(NULL, -1, MPI_INT, right, 1, world), MPI_ERR_COUNT);
    FAILS(MPI_Send(NULL, 0, MPI_INT, size, 1, world), MPI_ERR_RANK);
    FAILS(MPI_Send(given, 1, MPI_DATATYPE_NULL, right, 1, world), MPI_ERR_TYPE);
}

/* ---- Info, names, time, memory ---- */

static void infos(void) {
    MPI_Info info, copy;
    int is = -1, flag = -1;
    char text[MPI_MAX_INFO_VAL] = "";
    OK(MPI_Info_create(&info));
    CHECK(info != MPI_INFO_NULL && MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Info_get(info, "key", 10, text, &flag));
    CHECK(flag && strcmp(text, "value") == 0);
    is = sizeof text, text[0] = '\0';
    OK(MPI_Info_get_string(info, "key", &is, text, &flag));
    CHECK(flag && is == 6 && strcmp(text, "value") == 0);
    OK(MPI_Info_get_valuelen(info, "key", &is, &flag));
    CHECK(flag && is == 5);
    OK(MPI_Info_get_nkeys(info, &is));
    CHECK(is == 1);
    OK(MPI_Info_get_nthkey(info, 0, text));
    CHECK(strcmp(text, "key") == 0);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "key"));
    OK(MPI_Info_get_nkeys(info, &is));
    CHECK(is == 0);
    OK(MPI_Info_get_nkeys(copy, &is));
    CHECK(is == 1);
    OK(MPI_Info_free(&copy));
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    char* words[] = {program, NULL};
    OK(MPI_Info_create_env(1, words, &info));
    OK(MPI_Info_get(info, "command", sizeof text - 1, text, &flag));
    CHECK(!flag || strcmp(text, program) == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &is));
    CHECK(is >= 0);
    OK(MPI_Info_free(&info));
}

static void names_and_places(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = -1, version = -1, subversion = -1, flag = -1, level = -1;
    OK(MPI_Get_library_version(text, &length));
    CHECK(strncmp(text, "Heddle", 6) == 0 && length == (int)strlen(text));
    OK(MPI_Get_processor_name(text, &length));
    CHECK(length > 0 && length == (int)strlen(text));
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == 4);
    OK(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag == 1);
    OK(MPI_Initialized(&flag));
    CHECK(flag == 1);
    OK(MPI_Finalized(&flag));
    CHECK(flag == 0);
    OK(MPI_Pcontrol(1));
    const double before = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtime() >= before);

    int* memory = NULL;
    MPI_Aint address = 0, second = 0;
    OK(MPI_Alloc_mem(64, MPI_INFO_NULL, &memory));
    memory[1] = 3;
    OK(MPI_Get_address(memory, &address));
    OK(MPI_Get_address(memory + 1, &second));
    CHECK((int*)address == memory && MPI_Aint_diff(second, address) == sizeof(int));
    CHECK(MPI_Aint_add(address, sizeof(int)) == second);
    OK(MPI_Free_mem(memory));
}

/* ---- Datatypes: functions that have no count ---- */

static void types(void) {
    MPI_Datatype type, copy, parts[1] = {MPI_DATATYPE_NULL};
    MPI_Count lower = -1, extent = -1, bytes = -1;
    int integers = -1, addresses = -1, datatypes = -1, combiner = -1, numbers[8], is = -1;
    char name[MPI_MAX_OBJECT_NAME] = "";
    OK(MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &type));
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner));
    CHECK(integers == 3 && addresses == 0 && datatypes == 1 && combiner == MPI_COMBINER_VECTOR);
    OK(MPI_Type_get_contents(type, 3, 0, 1, numbers, NULL, parts));
    CHECK(numbers[0] == 2 && numbers[1] == 1 && numbers[2] == 3 && parts[0] == MPI_DOUBLE);
    MPI_Count many_integers = -1, many_addresses = -1, many_counts = -1, many_types = -1;
    OK(MPI_Type_get_envelope_c(type, &many_integers, &many_addresses, &many_counts, &many_types,
                               &combiner));
    CHECK(many_integers == 3 && many_counts == 0 && many_types == 1);
    CHECK(combiner == MPI_COMBINER_VECTOR);
    MPI_Count counts[8];
    MPI_Datatype large;
    OK(MPI_Type_vector_c(2, 1, 3, MPI_DOUBLE, &large));
    OK(MPI_Type_get_contents_c(large, 0, 0, 3, 1, numbers, NULL, counts, parts));
    CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == 3 && parts[0] == MPI_DOUBLE);
    OK(MPI_Type_free(&large));
    OK(MPI_Type_get_extent_x(type, &lower, &extent));
    CHECK(lower == 0 && extent == 4 * sizeof(double));
    OK(MPI_Type_get_true_extent_x(type, &lower, &extent));
    CHECK(lower == 0 && extent == 4 * sizeof(double));
    OK(MPI_Type_size_x(type, &bytes));
    CHECK(bytes == 2 * sizeof(double));
    OK(MPI_Type_set_name(type, "two of them"));
    OK(MPI_Type_get_name(type, name, &is));
    CHECK(strcmp(name, "two of them") == 0 && is == 11);
    OK(MPI_Type_dup(type, &copy));
    OK(MPI_Type_get_envelope(copy, &integers, &addresses, &datatypes, &combiner));
    CHECK(combiner == MPI_COMBINER_DUP);
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));

    int sizes[2] = {4, 6};
    OK(MPI_Type_create_subarray(2, sizes, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_FORTRAN, MPI_INT,
                                &type));
    OK(MPI_Type_get_contents(type, 8, 0, 1, numbers, NULL, parts));
    CHECK(numbers[7] == MPI_ORDER_FORTRAN && parts[0] == MPI_INT);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    OK(MPI_Type_size(type, &is));
    CHECK(is == 8);
    OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &type));
    OK(MPI_Type_size(type, &is));
    CHECK(is == 4);
    OK(MPI_Type_create_f90_real(12, 30, &type));
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner));
    CHECK(combiner == MPI_COMBINER_F90_REAL);
    OK(MPI_Type_create_f90_complex(12, MPI_UNDEFINED, &type));
    OK(MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner));
    CHECK(combiner == MPI_COMBINER_F90_COMPLEX);
    OK(MPI_Type_create_f90_integer(9, &type));
    OK(MPI_Type_size(type, &is));
    CHECK(is == 4);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    CHECK(type == MPI_DOUBLE_INT);
}

/* ---- Windows: functions that have no count ---- */

static void windows(void) {
    int memory[4] = {rank, 0, 0, 0}, result = -1, flag = -1, key = MPI_KEYVAL_INVALID;
    void* value = NULL;
    MPI_Group all, group;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME] = "";
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, world, &window));
    CHECK(MPI_Win_f2c(MPI_Win_c2f(window)) == window);
    OK(MPI_Win_set_name(window, "pane"));
    OK(MPI_Win_get_name(window, name, &result));
    CHECK(strcmp(name, "pane") == 0 && result == 4);
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, &deletions));
    OK(MPI_Win_set_attr(window, key, &window));
    OK(MPI_Win_get_attr(window, key, &value, &flag));
    CHECK(flag && value == &window);
    deletions = 0;
    OK(MPI_Win_delete_attr(window, key));
    OK(MPI_Win_free_keyval(&key));
    CHECK(deletions == 1 && key == MPI_KEYVAL_INVALID);
    int* model = NULL;
    OK(MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &flag));
    CHECK(flag && *model == MPI_WIN_UNIFIED);
    OK(MPI_Win_get_info(window, &info));
    OK(MPI_Win_set_info(window, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_get_group(window, &all));
    is_group(&all, size, rank);

    const int seven = 7, nine = 9;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window));
    OK(MPI_Fetch_and_op(&seven, &result, MPI_INT, right, 1, MPI_SUM, window));
    OK(MPI_Win_flush_local(right, window));
    CHECK(result == 0);
    OK(MPI_Compare_and_swap(&nine, &seven, &result, MPI_INT, right, 1, window));
    OK(MPI_Win_flush(right, window));
    CHECK(result == 7);
    OK(MPI_Fetch_and_op(&seven, &result, MPI_INT, MPI_PROC_NULL, 1, MPI_SUM, window));
    OK(MPI_Compare_and_swap(&nine, &seven, &result, MPI_INT, MPI_PROC_NULL, 1, window));
    OK(MPI_Win_unlock(right, window));
    OK(MPI_Barrier(world));
    OK(MPI_Win_lock_all(0, window));
    OK(MPI_Get(&result, 1, MPI_INT, right, 0, 1, MPI_INT, window));
    OK(MPI_Win_flush_local_all(window));
    CHECK(result == right);
    OK(MPI_Win_flush_all(window));
    OK(MPI_Win_sync(window));
    CHECK(memory[1] == 9);
    OK(MPI_Win_unlock_all(window));

    /* In two epochs each rank is origin and target. */
    OK(MPI_Comm_group(world, &all));
    OK(MPI_Group_incl(all, 1, &right, &group));
    MPI_Group sources;
    OK(MPI_Group_incl(all, 1, &left, &sources));
    for (int epoch = 0; epoch < 2; ++epoch) {
        OK(MPI_Win_post(sources, 0, window));
        OK(MPI_Win_start(group, 0, window));
        OK(MPI_Put(&rank, 1, MPI_INT, right, 2 + epoch, 1, MPI_INT, window));
        OK(MPI_Win_complete(window));
        if (epoch == 0)
            OK(MPI_Win_wait(window));
        else
            for (flag = 0; !flag;) OK(MPI_Win_test(window, &flag));
        CHECK(memory[2 + epoch] == left);
    }
    OK(MPI_Group_free(&sources));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    OK(MPI_Win_fence(0, window));
    OK(MPI_Win_free(&window));
    CHECK(window == MPI_WIN_NULL);

    MPI_Aint place = 0;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, world, &window));
    OK(MPI_Win_attach(window, memory, sizeof memory));
    OK(MPI_Get_address(memory, &place));
    MPI_Aint there = 0;
    OK(MPI_Sendrecv(&place, 1, MPI_AINT, left, 47, &there, 1, MPI_AINT, right, 47, world,
                    MPI_STATUS_IGNORE));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window));
    OK(MPI_Get(&result, 1, MPI_INT, right, there, 1, MPI_INT, window));
    OK(MPI_Win_unlock(right, window));
    CHECK(result == right);
    OK(MPI_Barrier(world));
    OK(MPI_Win_detach(window, memory));
    OK(MPI_Win_free(&window));
}

/* ---- Files: functions that have no count ---- */

static void files(void) {
    MPI_File file;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype etype, filetype, pair;
    MPI_Offset at = -1;
    char representation[MPI_MAX_DATAREP_STRING] = "";
    int is = -1;
    OK(MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    OK(MPI_File_get_amode(file, &is));
    CHECK(is == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    OK(MPI_File_get_group(file, &group));
    is_group(&group, size, rank);
    OK(MPI_File_get_info(file, &info));
    OK(MPI_File_set_info(file, info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_set_size(file, 80));
    OK(MPI_File_get_size(file, &at));
    CHECK(at == 80);
    OK(MPI_File_preallocate(file, 160));
    OK(MPI_File_get_size(file, &at));
    CHECK(at == 160);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &is));
    CHECK(is == 1);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_File_set_view(file, 8, MPI_INT, pair, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &at, &etype, &filetype, representation));
    CHECK(at == 8 && etype == MPI_INT && filetype != MPI_DATATYPE_NULL);
    CHECK(strcmp(representation, "native") == 0);
    OK(MPI_Type_free(&filetype));
    OK(MPI_Type_free(&pair));
    OK(MPI_File_get_byte_offset(file, 3, &at));
    CHECK(at == 8 + 3 * sizeof(int));
    OK(MPI_File_seek(file, 5, MPI_SEEK_SET));
    OK(MPI_File_seek(file, 2, MPI_SEEK_CUR));
    OK(MPI_File_get_position(file, &at));
    CHECK(at == 7);
    OK(MPI_File_seek(file, -1, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &at));
    CHECK(at == (160 - 8) / (int)sizeof(int) - 1);
    OK(MPI_File_seek_shared(file, 4, MPI_SEEK_SET));
    OK(MPI_File_get_position_shared(file, &at));
    CHECK(at == 4);
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    OK(MPI_Barrier(world));
    if (rank == 0) {
        OK(MPI_File_delete(path, MPI_INFO_NULL));
        FAILS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    OK(MPI_Barrier(world));
}

/* ---- Functions that MPI 3.0 removed ---- */

static void removed(void) {
    MPI_Datatype type;
    MPI_Aint address = 0, extent = -1;
    MPI_Errhandler handler, is;
    OK(MPI_Address(given, &address));
    CHECK((int*)address == given);
    OK(MPI_Type_extent(MPI_DOUBLE, &extent));
    CHECK(extent == sizeof(double));
    OK(MPI_Type_lb(MPI_DOUBLE, &extent));
    CHECK(extent == 0);
    OK(MPI_Type_ub(MPI_DOUBLE, &extent));
    CHECK(extent == sizeof(double));
    OK(MPI_Type_hvector(2, 1, 8, MPI_INT, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK(extent == 12);
    OK(MPI_Type_free(&type));
    int lengths[] = {1, 1};
    MPI_Aint places[] = {0, 16};
    OK(MPI_Type_hindexed(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK(extent == 20);
    OK(MPI_Type_free(&type));
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    OK(MPI_Type_struct(2, lengths, places, types, &type));
    OK(MPI_Type_extent(type, &extent));
    CHECK(extent == 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Errhandler_create(handle_comm, &handler));
    OK(MPI_Errhandler_set(world, handler));
    OK(MPI_Errhandler_get(world, &is));
    CHECK(is != MPI_ERRHANDLER_NULL);
    handled = 0;
    (void)MPI_Comm_call_errhandler(world, MPI_ERR_OTHER);
    CHECK(handled == 1 && handled_code == MPI_ERR_OTHER);
    OK(MPI_Errhandler_set(world, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&is));
    OK(MPI_Errhandler_free(&handler));
}

static void extensions(void) {
    int supported = -1;
    CHECK(MPIX_Query_cuda_support() == 0 && MPIX_Query_hip_support() == 0);
    CHECK(MPIX_Query_ze_support() == 0 && MPIX_Query_rocm_support() == 0);
    OK(MPIX_GPU_query_support(0, &supported));
    CHECK(supported == 0);
}

void objects(void) {
    errors();
    infos();
    names_and_places();
    types();
    windows();
    files();
    removed();
    extensions();
}
