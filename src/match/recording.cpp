// SPDX-License-Identifier: BSD-3-Clause
#include "match/recording.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace heddle::match {
namespace recording {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? 0xedb88320U : 0);
        table[i] = value;
    }
    return table;
}

}  // namespace

std::uint32_t check(std::span<const std::uint8_t> bytes, std::uint32_t before) noexcept {
    static constexpr std::array<std::uint32_t, 256> table = make_table();
    std::uint32_t value = ~before;
    for (const std::uint8_t byte : bytes) value = value >> 8 ^ table[(value ^ byte) & 0xff];
    return ~value;
}

}  // namespace recording

namespace {

std::string made_path(const std::string& directory, std::int32_t rank) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error)
        throw std::runtime_error("the directory " + directory +
                                 " cannot be made: " + error.message());
    return directory + "/rank-" + std::to_string(rank) + ".matching";
}

/// Opens a new file. It follows no link: in a directory that others may write to, a link could lead
/// to any file of the user.
std::FILE* open_new(const std::string& path) {
    const int fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    return fd < 0 ? nullptr : ::fdopen(fd, "wb");
}

}  // namespace

Recording::Recording(const std::string& directory, std::int32_t rank, std::int32_t ranks)
    : path_(made_path(directory, rank)),
      file_(open_new(path_)),
      end_(bytes_.data() + recording::block_header_bytes) {
    if (file_ == nullptr)
        throw std::runtime_error(path_ + " cannot be written: " + std::strerror(errno));
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // blocks are large enough without a buffer
    std::array<std::uint8_t, recording::header_bytes> header;
    std::memcpy(header.data(), recording::magic.data(), recording::magic.size());
    recording::store(header.data() + 8, recording::version);
    recording::store(header.data() + 12, static_cast<std::uint32_t>(rank));
    recording::store(header.data() + 16, static_cast<std::uint32_t>(ranks));
    recording::store(header.data() + 20, recording::check({header.data(), 20}));
    write(header.data(), header.size());
}

Recording::~Recording() { close(); }

void Recording::add(const recording::Event& event) noexcept {
    std::lock_guard guard(lock_);
    if (file_ == nullptr) return;
    end_ = encoder_.put(end_, event);
    ++events_;
    if (bytes_.data() + bytes_.size() - end_ <
        static_cast<std::ptrdiff_t>(recording::most_event_bytes))
        write_block();
}

/// Writes a block. One without events is the end of the file.
void Recording::write_block() noexcept {
    std::uint8_t* const events = bytes_.data() + recording::block_header_bytes;
    const auto count = static_cast<std::uint32_t>(end_ - events);
    recording::BlockHeader header{count, events_, block_++, 0};
    header.check = recording::check_of(header, {events, count});
    recording::store(bytes_.data(), header);
    write(bytes_.data(), recording::block_header_bytes + count);
    end_ = events;
    events_ = 0;
    encoder_ = {};
}

void Recording::write(const std::uint8_t* bytes, std::size_t count) noexcept {
    if (file_ == nullptr || std::fwrite(bytes, 1, count, file_.get()) == count) return;
    error_ = errno;
    file_.reset();
}

std::string Recording::close() {
    std::lock_guard guard(lock_);
    if (file_ != nullptr && events_ != 0) write_block();
    if (file_ != nullptr) write_block();
    if (file_ != nullptr && std::fclose(file_.release()) != 0) error_ = errno;
    if (error_ == 0) return {};
    return "the recording " + path_ + " is incomplete: " + std::strerror(error_);
}

}  // namespace heddle::match
