// SPDX-License-Identifier: BSD-3-Clause
/// Views and data representations (MPI 5.0, 14.3 and 14.5).

#include <cstring>

#include "api/datatype_arguments.hpp"
#include "api/entry.hpp"
#include "api/file_arguments.hpp"
#include "objects/errors.hpp"

namespace heddle::api {
namespace {

HEDDLE_NAMED(EType, Type, "etype")
HEDDLE_NAMED(FileType, Type, "filetype")

struct DataRep : Text {
    static constexpr const char* name = "datarep";
    using Text::Text;
    int error(const Communicator*) const noexcept {
        return is_memory(value) && *value != '\0' &&
                strnlen(value, MPI_MAX_DATAREP_STRING) < MPI_MAX_DATAREP_STRING
            ? MPI_SUCCESS
            : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        if (!is_memory(value)) return no_memory(value);
        return *value == '\0'
            ? "an empty name"
            : "a name of more than " + std::to_string(MPI_MAX_DATAREP_STRING - 1) + " characters";
    }
};
struct NewDataRep : DataRep, WithoutFile {
    using DataRep::DataRep;
};

io::ViewError wrong_displacement(const io::OpenFile& open, std::int64_t displacement) {
    if (open.sequential() && displacement != MPI_DISPLACEMENT_CURRENT)
        return {MPI_ERR_ARG, "disp",
                "must be MPI_DISPLACEMENT_CURRENT, since the file has been opened with "
                "MPI_MODE_SEQUENTIAL"};
    if (!open.sequential() && displacement == MPI_DISPLACEMENT_CURRENT)
        return {MPI_ERR_ARG, "disp",
                "MPI_DISPLACEMENT_CURRENT is for files opened with MPI_MODE_SEQUENTIAL"};
    if (!open.sequential() && displacement < 0)
        return {MPI_ERR_ARG, "disp", std::to_string(displacement) + " is negative"};
    return {};
}

/// Returns nullptr with an error.
io::ViewPointer view_of(const io::OpenFile& open, std::int64_t displacement, EType etype,
                        FileType filetype, const char* datarep, io::ViewError& error) {
    error = wrong_displacement(open, displacement);
    if (error.error_class != MPI_SUCCESS) return nullptr;
    auto representation = open.common->representations.find(datarep);
    if (representation == nullptr) {
        error = {
            MPI_ERR_UNSUPPORTED_DATAREP, "datarep",
            '"' + std::string(datarep) +
                "\" is not native, internal, external32, or one that the program has registered"};
        return nullptr;
    }
    return io::make_view(std::max<std::int64_t>(displacement, 0), *etype, *filetype,
                         std::move(representation), open.writable(), error);
}

int set_view(Thread& thread, Fh file, Raw<MPI_Offset> displacement, EType etype, FileType filetype,
             DataRep datarep, Hints hints) {
    io::OpenFile& open = *file->open;
    io::ViewError error;
    const io::ViewPointer view =
        view_of(open, displacement.value, etype, filetype, datarep.value, error);
    // The other processes wait for this one, even if something is wrong.
    const io::Failure mine = view != nullptr
        ? io::Failure{}
        : io::Failure::of_class(error.error_class, "an argument of another process is wrong");
    const io::Failure all = io::agree(thread, open, mine);
    if (view == nullptr) return refuse(thread, *file, error.error_class, error.argument, error.why);
    if (all) return io::raise(thread, *file, all, "setting a view");
    if (hints.object != nullptr) io::apply_hints(open, *hints);
    return io::set_view(thread, *file, view, static_cast<std::uint64_t>(etype->extent));
}

/// Hands out a type that a view names. It is committed.
MPI_Datatype handed_out(Process& process, const objects::Definition& type) {
    const MPI_Datatype handle = handle_for(process, type);
    process.datatype(handle)->committed = true;
    return handle;
}

int get_view(Thread& thread, Fh file, Out<MPI_Offset> displacement, Out<MPI_Datatype> etype,
             Out<MPI_Datatype> filetype, Out<char> datarep) {
    const io::ViewPointer view = file->open->view_now();
    *displacement = view->displacement;
    *etype = handed_out(*thread.process, *view->etype);
    *filetype = handed_out(*thread.process, *view->filetype);
    write_text(view->representation->name, datarep.place, MPI_MAX_DATAREP_STRING);
    return MPI_SUCCESS;
}

template <class Extent>
int get_type_extent(Thread& thread, Fh file, AnyType type, Out<Extent> extent) {
    const io::ViewPointer view = file->open->view_now();
    int error = MPI_SUCCESS;
    const auto layout = io::layout_in(*view->representation, *type->definition, error);
    if (!layout)
        return objects::fail(thread, *file, MPI_ERR_CONVERSION,
                             "the extent of the datatype is not to be had in the representation " +
                                 view->representation->name);
    *extent = layout->extent;
    return MPI_SUCCESS;
}

int add(Thread& thread, io::Representation representation) {
    const std::string name = representation.name;
    if (representation.extent == nullptr)
        return refuse(thread, thread.process->files->null, MPI_ERR_ARG, "dtype_file_extent_fn",
                      "a null pointer");
    if (io::common_of(*thread.process)->representations.add(std::move(representation)))
        return MPI_SUCCESS;
    return refuse(thread, thread.process->files->null, MPI_ERR_DUP_DATAREP, "datarep",
                  "there is a representation \"" + name + "\" already");
}

io::Representation representation_of(NewDataRep name, MPI_Datarep_extent_function* extent,
                                     void* extra_state) {
    io::Representation representation;
    representation.name = name.value;
    representation.kind = io::Representation::Kind::programs;
    representation.extent = extent;
    representation.extra_state = extra_state;
    return representation;
}

int register_datarep(Thread& thread, NewDataRep name, Raw<MPI_Datarep_conversion_function*> read,
                     Raw<MPI_Datarep_conversion_function*> write,
                     Raw<MPI_Datarep_extent_function*> extent, Raw<void*> extra_state) {
    io::Representation representation = representation_of(name, extent.value, extra_state.value);
    representation.read = read.value;
    representation.write = write.value;
    return add(thread, std::move(representation));
}

int register_datarep_large(Thread& thread, NewDataRep name,
                           Raw<MPI_Datarep_conversion_function_c*> read,
                           Raw<MPI_Datarep_conversion_function_c*> write,
                           Raw<MPI_Datarep_extent_function*> extent, Raw<void*> extra_state) {
    io::Representation representation = representation_of(name, extent.value, extra_state.value);
    representation.read_large = read.value;
    representation.write_large = write.value;
    return add(thread, std::move(representation));
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(6, File_set_view, set_view)
MPI_ENTRY(5, File_get_view, get_view)
MPI_ENTRY(3, File_get_type_extent, get_type_extent<MPI_Aint>)
MPI_ENTRY(3, File_get_type_extent_c, get_type_extent<MPI_Count>)
MPI_ENTRY(5, Register_datarep, register_datarep)
MPI_ENTRY(5, Register_datarep_c, register_datarep_large)
