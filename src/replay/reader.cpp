// SPDX-License-Identifier: BSD-3-Clause
#include "replay/reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

namespace heddle::replay {
namespace {

namespace format = match::recording;

class Reader {
public:
    explicit Reader(const std::string& path) : file_(std::fopen(path.c_str(), "rbe")) {
        recorded_.path = path;
        if (file_ == nullptr)
            throw std::runtime_error(path + " cannot be read: " + std::strerror(errno));
        if (std::filesystem::is_directory(path))
            throw std::runtime_error(path +
                                     " is a directory; recordings in it are files, such as " +
                                     (std::filesystem::path(path) / "rank-0.matching").string());
    }

    Recorded read() {
        read_header();
        for (std::uint32_t block = 0; read_block(block); ++block) {}
        std::uint8_t more = 0;
        if (get({&more, 1}) != 0)
            damaged("goes on at byte " + std::to_string(at_ - 1) + ", after its end");
        return std::move(recorded_);
    }

private:
    struct Closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    [[noreturn]] void damaged(const std::string& what) {
        const std::string why = recorded_.path + " " + what;
        throw Damaged(why, std::move(recorded_));
    }

    /// Reads as many bytes as there are, and returns their number.
    std::size_t get(std::span<std::uint8_t> bytes) {
        const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file_.get());
        if (std::ferror(file_.get()) != 0)
            throw std::runtime_error(recorded_.path + " cannot be read: " + std::strerror(errno));
        at_ += count;
        return count;
    }

    void read_header() {
        std::array<std::uint8_t, format::header_bytes> header;
        const std::size_t count = get(header);
        if (!std::equal(format::magic.begin(), format::magic.end(), header.begin()) ||
            count < format::magic.size())
            throw std::runtime_error(recorded_.path + " is no recording of matching");
        if (count < header.size()) damaged("ends in its header, at byte " + std::to_string(count));
        if (const std::uint32_t version = format::load(header.data() + 8);
            version != format::version)
            throw std::runtime_error(recorded_.path + " has version " + std::to_string(version) +
                                     " of the format, and version " +
                                     std::to_string(format::version) + " can be read");
        if (format::load(header.data() + 20) != format::check({header.data(), 20}))
            damaged("is damaged in its header, from byte 0 on");
        recorded_.rank = format::load(header.data() + 12);
        recorded_.ranks = format::load(header.data() + 16);
    }

    /// Reads a block. Returns false at the end of the recording.
    bool read_block(std::uint32_t number) {
        place_ =
            "block " + std::to_string(number) + ", which begins at byte " + std::to_string(at_);
        std::array<std::uint8_t, format::block_header_bytes> bytes;
        const std::size_t count = get(bytes);
        if (count == 0)
            damaged("ends at byte " + std::to_string(at_) +
                    ", after a block, without its end: the program was ended "
                    "before it closed the file, or it is truncated");
        if (count < bytes.size()) damaged("ends in " + place_);
        const format::BlockHeader header = format::load_block_header(bytes.data());
        if (header.bytes > format::most_block_bytes)
            damaged("is damaged in " + place_ + ": it cannot be that long");
        const std::span<std::uint8_t> events(events_.data(), header.bytes);
        if (get(events) < events.size()) damaged("ends in " + place_);
        if (header.check != format::check_of(header, events)) damaged("is damaged in " + place_);
        if (header.number != number)
            damaged("lacks blocks: instead of " + place_ + ", there is block " +
                    std::to_string(header.number));
        read_events(header.events, events);
        return header.events != 0;
    }

    /// Reads the events of a block. Its check was right, so that errors in it were written.
    void read_events(std::uint32_t events, std::span<const std::uint8_t> bytes) {
        format::Decoder decoder(bytes);
        std::vector<Event> block;
        for (std::uint32_t i = 0; i < events; ++i) {
            Event event;
            if (!decoder.get(event) || !possible(event))
                damaged("is wrong in " + place_ + ": its event " + std::to_string(i) + " is none");
            block.push_back(event);
        }
        if (decoder.left() != 0)
            damaged("is wrong in " + place_ + ": it goes on after its last event");
        recorded_.events.insert(recorded_.events.end(), block.begin(), block.end());
    }

    static bool possible(const Event& event) {
        return event.step != Step::arrive ||
            (event.envelope.source != match::any_source && event.envelope.tag != match::any_tag);
    }

    std::unique_ptr<std::FILE, Closer> file_;
    std::size_t at_ = 0;  ///< number of bytes read
    std::string place_;
    Recorded recorded_;
    std::array<std::uint8_t, format::most_block_bytes> events_;
};

}  // namespace

Recorded read_recording(const std::string& path) { return std::make_unique<Reader>(path)->read(); }

}  // namespace heddle::replay
