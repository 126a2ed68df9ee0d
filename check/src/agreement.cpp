// SPDX-License-Identifier: BSD-3-Clause
/// Collectives: the first rank of the node in a call leaves its arguments, and the others compare
/// theirs.

#include "agreement.hpp"

#include "findings.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

/// Returns a number for the operation. Operations of the program have another handle in each
/// process.
std::uint64_t number_of(MPI_Op op) noexcept {
    const auto handle = reinterpret_cast<std::uintptr_t>(op);
    return handle < 4096 ? handle : 1;
}
std::string name_of_operation(std::uint64_t number) {
    static const struct {
        MPI_Op op;
        const char* name;
    } all[] = {{MPI_SUM, "MPI_SUM"},         {MPI_MIN, "MPI_MIN"},       {MPI_MAX, "MPI_MAX"},
               {MPI_PROD, "MPI_PROD"},       {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
               {MPI_BXOR, "MPI_BXOR"},       {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
               {MPI_LXOR, "MPI_LXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
               {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"}};
    for (const auto& one : all)
        if (number_of(one.op) == number) return one.name;
    return "an operation of the program";
}

/// Returns true if the library has looked no further than at the arguments.
bool is_refusal(int error) {
    int error_class = MPI_SUCCESS;
    if (library().Error_class(error, &error_class) != MPI_SUCCESS) return false;
    for (const int one :
         {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_COMM, MPI_ERR_RANK, MPI_ERR_ROOT,
          MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_INFO,
          MPI_ERR_SIZE, MPI_ERR_DISP, MPI_ERR_AMODE, MPI_ERR_REQUEST})
        if (error_class == one) return true;
    return false;
}

std::string other_side(const Record& record) {
    return "rank " + std::to_string(record.rank) + " at " + location_of(record.place);
}

}  // namespace

Agreement::Agreement(const Call& call, MPI_Comm comm, int root, MPI_Op op)
    : call_(call), root_(root) {
    if (op != MPI_OP_NULL) operation_ = number_of(op);
    comm_ = comm_of(comm);
    if (comm_ != nullptr &&
        (comm_->id == 0 || Node::get() == nullptr || (comm_->size == 1 && !comm_->inter)))
        comm_ = nullptr;
    rank_ = comm_ == nullptr ? none - 1 : comm_->inter ? MPI_ROOT : comm_->rank;
    // The arguments of other ranks in the root's group are not compared. Each direction may have an
    // operation of its own.
    if (comm_ != nullptr && comm_->inter && (root == none || root == MPI_PROC_NULL)) operation_ = 0;
    if (comm_ != nullptr) {
        number_ = ++comm_->collectives;
        counted_ = comm_;
    }
    if (comm_ == nullptr && root != none && comm != MPI_COMM_NULL) {
        // The root is found in any case, for buffers.
        if (const auto found = comm_of(comm)) rank_ = found->inter ? MPI_ROOT : found->rank;
    }
    if (comm_ != nullptr && (comm_->here < 2 || comm_->out_of_step)) comm_ = nullptr;
    if (comm_ == nullptr || root == none ||
        (comm_->inter && (root == MPI_ROOT || root == MPI_PROC_NULL)))
        return;
    refused_ = root < 0 || root >= static_cast<int>(comm_->world.size());
}

Agreement::~Agreement() = default;

bool Agreement::is_root() const noexcept { return rank_ == root_; }

/// Returns true if data are compared. Between groups that needs all data to come from the root, or
/// go to it.
bool Agreement::compares_data() const noexcept {
    if (!comm_->inter) return true;
    if (root_ == MPI_PROC_NULL) return false;
    for (const Function one : {Function::Bcast, Function::Ibcast, Function::Bcast_init,
                               Function::Reduce, Function::Ireduce, Function::Reduce_init})
        if (call_.function() == one) return true;
    return false;
}

/// Returns the root as all ranks know it. For an intercommunicator it is a rank in MPI_COMM_WORLD,
/// or MPI_PROC_NULL if this rank does not know it.
int Agreement::root_in_world() const noexcept {
    if (!comm_->inter || root_ == none || root_ == MPI_PROC_NULL) return root_;
    return root_ == MPI_ROOT ? own_rank() : comm_->world_rank(root_);
}

void Agreement::data(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    if (comm_ == nullptr || buffer == MPI_IN_PLACE || !compares_data()) return;
    refused_ = refused_ || count < 0 || datatype == MPI_DATATYPE_NULL;
    const Signature signature = signature_of(datatype, count);
    if (has_signature_) return local(signature_, signature);
    signature_ = signature;
    has_signature_ = true;
}

void Agreement::local(const Signature& one, const Signature& other) {
    if (match(one, other)) return;
    tell("collective-data", call_.name(), call_.place(),
         "sends " + words(one) + ", and receives " + words(other) + " from itself",
         "Give both sides the same number of elements of the same type.");
}

void Agreement::contradict(const char* kind, const std::string& text, const char* advice) {
    tell(kind, call_.name(), call_.place(), text, advice);
}

void Agreement::to_root(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    if (comm_ == nullptr || is_root() || buffer == MPI_IN_PLACE || !compares_pairs()) return;
    pair(comm_->rank, root_, signature_of(datatype, count), true);
}

void Agreement::from_root(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    if (comm_ == nullptr || is_root() || buffer == MPI_IN_PLACE || !compares_pairs()) return;
    pair(root_, comm_->rank, signature_of(datatype, count), false);
}

void Agreement::pair(int from, int to, const Signature& signature, bool sends) {
    Node* const node = Node::get();
    const int other = comm_->world_rank(sends ? to : from);
    if (!node->is_here(other)) return;
    const Key key{Sort::pair, comm_->id, number_,
                  static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to)};
    Record first{};
    {
        Bucket bucket(*node, key);
        Record* const record = bucket.find();
        if (record == nullptr) {
            Record* const added = bucket.add();
            if (added == nullptr) return;
            added->signature = signature;
            added->place = call_.place();
            added->rank = own_rank();
            return;
        }
        first = *record;
        bucket.remove(*record);
    }
    if (match(signature, first.signature)) return;
    contradict("collective-data",
               std::string(sends ? "sends " : "receives ") + words(signature) +
                   (sends ? " to rank " : " from rank ") + std::to_string(other) + ", which " +
                   (sends ? "receives " : "sends ") + words(first.signature) + " at " +
                   location_of(first.place),
               "Give both sides the same number of elements of the same type.");
}

Key Agreement::key() const noexcept { return {Sort::collective, counted_->id, number_, 0}; }

void Agreement::over(int error) {
    if (error == MPI_SUCCESS || counted_ == nullptr || !is_refusal(error)) return;
    --counted_->collectives;
    if (comm_ == nullptr) return;
    Bucket bucket(*Node::get(), key());
    Record* const record = bucket.find();
    if (record != nullptr && --record->arrived <= 0) bucket.remove(*record);
}

void Agreement::meet() {
    if (refused_) comm_ = nullptr;
    if (comm_ == nullptr) return;
    Node* const node = Node::get();
    const int root = root_in_world();
    Record first{};
    {
        Bucket bucket(*node, key());
        Record* record = bucket.find();
        if (record == nullptr) {
            record = bucket.add();
            if (record == nullptr) return;
            record->signature = signature_;
            record->has_signature = has_signature_;
            record->function = static_cast<std::int32_t>(call_.function());
            record->root = root;
            record->operation = operation_;
            record->number = static_cast<std::int64_t>(shares_);
            record->place = call_.place();
            record->rank = own_rank();
            record->arrived = 1;
            return;
        }
        // The first rank may not have known the data, or the root.
        first = *record;
        if (record->root == MPI_PROC_NULL) record->root = root;
        if (record->operation == 0) record->operation = operation_;
        if (!record->has_signature && has_signature_ &&
            first.function == static_cast<std::int32_t>(call_.function())) {
            record->signature = signature_;
            record->number = static_cast<std::int64_t>(shares_);
            record->has_signature = true;
        }
        if (++record->arrived >= comm_->here) bucket.remove(*record);
    }
    const std::string number = "call #" + std::to_string(number_) + " on " + words(*comm_);
    if (first.function != static_cast<std::int32_t>(call_.function())) {
        comm_->out_of_step = true;
        return contradict("collective-call",
                          number + " is " + name_of(static_cast<Function>(first.function)) +
                              " on " + other_side(first),
                          "Call the same collectives in the same order on all ranks.");
    }
    const std::string of = comm_->inter ? " of MPI_COMM_WORLD" : "";
    if (first.root != root && root != MPI_PROC_NULL && first.root != MPI_PROC_NULL)
        return contradict("collective-root",
                          number + " has root " + std::to_string(root) + of + ", but root " +
                              std::to_string(first.root) + of + " on " + other_side(first),
                          "Name the same root on all ranks.");
    if (first.operation != operation_ && operation_ != 0 && first.operation != 0)
        return contradict("collective-operation",
                          number + " has " + name_of_operation(operation_) + ", but " +
                              name_of_operation(first.operation) + " on " + other_side(first),
                          "Name the same operation on all ranks.");
    if (has_signature_ && first.has_signature && !match(signature_, first.signature))
        contradict("collective-data",
                   number + " has " + words(signature_) + ", but " + words(first.signature) +
                       " on " + other_side(first),
                   "Give the same number of elements of the same type on all ranks.");
    else if (has_signature_ && first.has_signature &&
             shares_ != static_cast<std::uint64_t>(first.number))
        contradict("collective-data",
                   number + " has other counts for the ranks than " + other_side(first),
                   "Give the same array of counts on all ranks.");
}

}  // namespace heddle::check
