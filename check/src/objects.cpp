// SPDX-License-Identifier: BSD-3-Clause
/// Objects that the program makes and must free.

#include <map>
#include <mutex>
#include <vector>

#include "checks.hpp"
#include "findings.hpp"

namespace heddle::check {

namespace {

struct Made {
    const char* call;
    Place place;
};
/// All objects. They are never destroyed: threads of the program may call MPI to the end. A handle
/// of a group may stand for several objects.
struct Objects {
    std::mutex guard;
    std::map<std::pair<Object, const void*>, std::vector<Made>> open;
};
Objects& objects() {
    static Objects& all = *new Objects;
    return all;
}

struct Words {
    const char *kind, *what, *advice;
};
Words words_of(Object kind) {
    switch (kind) {
        case Object::communicator:
            return {"leak-communicator", "the communicator is never freed",
                    "Call MPI_Comm_free or MPI_Comm_disconnect."};
        case Object::datatype:
            return {"leak-datatype", "the datatype is never freed", "Call MPI_Type_free."};
        case Object::group:
            return {"leak-group", "the group is never freed", "Call MPI_Group_free."};
        case Object::window:
            return {"leak-window", "the window is never freed", "Call MPI_Win_free."};
        case Object::file: return {"leak-file", "the file is never closed", "Call MPI_File_close."};
        case Object::operation:
            return {"leak-operation", "the operation is never freed", "Call MPI_Op_free."};
        case Object::info:
            return {"leak-info", "the info object is never freed", "Call MPI_Info_free."};
        case Object::errhandler:
            return {"leak-errhandler", "the error handler is never freed",
                    "Call MPI_Errhandler_free."};
        case Object::session:
            return {"leak-session", "the session is never finalized", "Call MPI_Session_finalize."};
    }
    return {"leak", "the object is never freed", "Free it."};
}

}  // namespace

void made_at(const char* call, Place place, Object kind, const void* handle) {
    // The program need not free predefined objects.
    if (reinterpret_cast<std::uintptr_t>(handle) < 4096) return;
    const std::lock_guard<std::mutex> held(objects().guard);
    objects().open[{kind, handle}].push_back({call, place});
}

void gone(Object kind, const void* handle) {
    const std::lock_guard<std::mutex> held(objects().guard);
    const auto entry = objects().open.find({kind, handle});
    if (entry == objects().open.end()) return;
    entry->second.pop_back();
    if (entry->second.empty()) objects().open.erase(entry);
}

void tell_leaks() {
    std::vector<std::pair<Object, Made>> left;
    {
        const std::lock_guard<std::mutex> held(objects().guard);
        for (const auto& [what, all] : objects().open)
            for (const Made& one : all) left.emplace_back(what.first, one);
    }
    for (const auto& [kind, one] : left) {
        const Words said = words_of(kind);
        tell(said.kind, one.call, one.place, said.what, said.advice);
    }
}

}  // namespace heddle::check
