// SPDX-License-Identifier: BSD-3-Clause
/// Files of match/recording.hpp are read as they were written, and all other files are refused.

#include "replay/reader.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "match/recording.hpp"

namespace {

using namespace heddle;
using match::Recording;
using replay::Damaged;
using replay::Event;
using replay::Recorded;
using replay::Step;

/// A directory of its own for each test, gone afterwards.
class RecordingFile : public ::testing::Test {
protected:
    RecordingFile() {
        std::string name =
            (std::filesystem::temp_directory_path() / "heddle-recording-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
        directory_ = name;
    }
    ~RecordingFile() override { std::filesystem::remove_all(directory_); }

    std::string path(int rank = 0) const {
        return directory_ + "/rank-" + std::to_string(rank) + ".matching";
    }
    std::string bytes() const {
        std::ifstream file(path(), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }

    void record(const std::vector<Event>& events) const {
        Recording recording(directory_, 0, 1);
        for (const Event& event : events) tell(recording, event);
        EXPECT_EQ(recording.close(), "");
    }
    static void tell(Recording& recording, const Event& event) {
        switch (event.step) {
            case Step::post: return recording.post(event.envelope);
            case Step::arrive: return recording.arrive(event.envelope);
            case Step::cancel: return recording.cancel(event.envelope);
            default: return recording.take(event.envelope);
        }
    }
    /// Returns why the file is refused.
    std::string refusal() const {
        try {
            replay::read_recording(path());
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "it is not refused";
    }

    std::string directory_;
};

bool same(const Event& a, const Event& b) {
    return a.step == b.step && a.envelope.context == b.envelope.context &&
        a.envelope.source == b.envelope.source && a.envelope.tag == b.envelope.tag;
}

std::vector<Event> random_events(unsigned seed, std::size_t count) {
    std::mt19937 random(seed);
    std::vector<Event> events;
    for (std::size_t i = 0; i < count; ++i) {
        Event event{static_cast<Step>(random() % 4),
                    {static_cast<std::uint32_t>(2 * (random() % 4)),
                     static_cast<std::int32_t>(random() % 8), 0}};
        // Mostly small steps, sometimes any number at all.
        event.envelope.tag =
            static_cast<std::int32_t>((random() % 16 == 0 ? random() : i) & 0x7fffffff);
        if (random() % 64 == 0) event.envelope.context = static_cast<std::uint32_t>(random());
        if (event.step != Step::arrive && random() % 4 == 0)
            event.envelope.source = match::any_source;
        if (event.step != Step::arrive && random() % 4 == 0) event.envelope.tag = match::any_tag;
        events.push_back(event);
    }
    return events;
}

void expect_same(const std::vector<Event>& read, const std::vector<Event>& written) {
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i)
        ASSERT_TRUE(same(read[i], written[i])) << "event " << i;
}

TEST_F(RecordingFile, is_read_as_it_was_written) {
    for (const std::size_t count : {0, 1, 2, 1000, 100'000}) {
        const std::vector<Event> events = random_events(static_cast<unsigned>(count), count);
        record(events);
        expect_same(replay::read_recording(path()).events, events);
    }
    EXPECT_GT(bytes().size(), 3 * match::recording::most_block_bytes)
        << "the last one has several blocks";
}

TEST_F(RecordingFile, holds_every_number) {
    constexpr auto least = std::numeric_limits<std::int32_t>::min(),
                   most = std::numeric_limits<std::int32_t>::max();
    std::vector<Event> events;
    for (const std::uint32_t context : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU})
        for (const std::int32_t source : {least, -1, 0, 1, most})
            for (const std::int32_t tag : {most, least, -2, 0, 63, 64})
                events.push_back({Step::post, {context, source, tag}});
    record(events);
    expect_same(replay::read_recording(path()).events, events);
}

// A change of these bytes is another version of the format.
TEST_F(RecordingFile, has_the_bytes_of_the_document) {
    {
        Recording recording(directory_, 3, 4);
        recording.post({2, -1, 300});
        recording.arrive({2, 1, 300});
    }
    std::filesystem::rename(path(3), path());
    const unsigned char wanted[] = {
        'H',  'E', 'D', 'D',  'L',  'E',  'M',  'R',  1, 0, 0, 0, 3,    0,    0,    0,
        4,    0,   0,   0,    0x69, 0x50, 0xe2, 0x3e,                                      //
        7,    0,   0,   0,    2,    0,    0,    0,    0, 0, 0, 0, 0xb4, 0x83, 0x70, 0x4a,  //
        0x00, 4,   1,   0xd8, 0x04, 0x15, 4,                                               //
        0,    0,   0,   0,    0,    0,    0,    0,    1, 0, 0, 0, 0x0a, 0xa1, 0x69, 0xc3};
    EXPECT_EQ(bytes(), std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
    const Recorded read = replay::read_recording(path());
    EXPECT_EQ(read.rank, 3u);
    EXPECT_EQ(read.ranks, 4u);
}

TEST_F(RecordingFile, takes_a_byte_for_what_repeats) {
    record(std::vector<Event>(10'000, Event{Step::arrive, {2, 1, 7}}));
    EXPECT_LT(bytes().size(), 10'100u);
}

TEST_F(RecordingFile, of_many_threads_has_the_events_of_each_in_order) {
    constexpr int threads = 4, each = 20'000;
    {
        Recording recording(directory_, 0, 1);
        std::vector<std::thread> team;
        for (int t = 0; t < threads; ++t)
            team.emplace_back([&recording, t] {
                for (int i = 0; i < each; ++i) recording.post({2, t, i});
            });
        for (std::thread& thread : team) thread.join();
    }
    std::vector<int> next(threads, 0);
    for (const Event& event : replay::read_recording(path()).events)
        ASSERT_EQ(event.envelope.tag, next[static_cast<std::size_t>(event.envelope.source)]++);
    EXPECT_EQ(next, std::vector<int>(threads, each));
}

TEST_F(RecordingFile, that_is_cut_anywhere_is_refused_with_the_place) {
    record(random_events(5, 60));
    const std::string whole = bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write(whole.substr(0, size));
        const std::string why = refusal();
        if (size < 8)
            ASSERT_NE(why.find("is no recording of matching"), std::string::npos) << size << why;
        else if (size < 24)
            ASSERT_NE(why.find("ends in its header, at byte " + std::to_string(size)),
                      std::string::npos)
                << size << why;
        else if (size == 24)
            ASSERT_NE(why.find("ends at byte 24, after a block, without its end"),
                      std::string::npos)
                << why;
        else if (size < whole.size() - 16)
            ASSERT_NE(why.find("ends in block 0, which begins at byte 24"), std::string::npos)
                << size << why;
        else if (size > whole.size() - 16)
            ASSERT_NE(why.find("ends in block 1"), std::string::npos) << size << why;
        else
            ASSERT_NE(why.find("without its end"), std::string::npos) << why;
    }
    write(whole + "x");
    EXPECT_NE(refusal().find("goes on at byte " + std::to_string(whole.size()) + ", after its end"),
              std::string::npos);
}

TEST_F(RecordingFile, with_a_wrong_bit_anywhere_is_refused) {
    record(random_events(6, 20));
    const std::string whole = bytes();
    for (std::size_t i = 0; i < whole.size(); ++i)
        for (int bit = 0; bit < 8; ++bit) {
            std::string wrong = whole;
            wrong[i] = static_cast<char>(wrong[i] ^ (1 << bit));
            write(wrong);
            ASSERT_THROW(replay::read_recording(path()), std::runtime_error)
                << "byte " << i << " bit " << bit;
        }
}

TEST_F(RecordingFile, of_another_version_is_refused_as_such) {
    record({});
    std::string other = bytes();
    other[8] = 2;
    write(other);
    EXPECT_EQ(refusal(), path() + " has version 2 of the format, and version 1 can be read");
}

TEST_F(RecordingFile, damaged_in_its_second_block_gives_the_first) {
    const std::vector<Event> events = random_events(7, 50'000);
    record(events);
    const std::string whole = bytes();
    // The length of the first block gives the begin of the second.
    std::size_t first = 0;
    for (int i = 0; i < 4; ++i)
        first |= std::size_t{static_cast<unsigned char>(whole[24 + static_cast<std::size_t>(i)])}
            << 8 * i;
    const std::size_t second = 24 + 16 + first;
    std::string wrong = whole;
    wrong[second + 100] = static_cast<char>(wrong[second + 100] ^ 1);
    write(wrong);
    try {
        replay::read_recording(path());
        FAIL();
    } catch (const Damaged& damaged) {
        EXPECT_EQ(
            damaged.what(),
            path() + " is damaged in block 1, which begins at byte " + std::to_string(second));
        ASSERT_GT(damaged.before.events.size(), 4'000u);
        expect_same(damaged.before.events,
                    {events.begin(),
                     events.begin() + static_cast<std::ptrdiff_t>(damaged.before.events.size())});
    }
    // The file is also refused without its first block, although each block is right by itself.
    write(whole.substr(0, 24) + whole.substr(second));
    EXPECT_EQ(
        refusal(),
        path() + " lacks blocks: instead of block 0, which begins at byte 24, there is block 1");
}

/// Returns a file with right checks around events that no writer writes.
std::string forged(const std::string& header, std::uint32_t count,
                   const std::vector<std::uint8_t>& events) {
    namespace format = match::recording;
    format::BlockHeader block{static_cast<std::uint32_t>(events.size()), count, 0, 0};
    block.check = format::check_of(block, events);
    std::uint8_t bytes[format::block_header_bytes];
    format::store(bytes, block);
    return header + std::string(reinterpret_cast<char*>(bytes), sizeof bytes) +
        std::string(events.begin(), events.end());
}

TEST_F(RecordingFile, with_events_that_are_none_is_refused) {
    record({});
    const std::string header = bytes().substr(0, 24);
    const auto expect = [&](const char* why, std::uint32_t count,
                            const std::vector<std::uint8_t>& events) {
        write(forged(header, count, events));
        EXPECT_NE(refusal().find(why), std::string::npos) << refusal();
    };
    expect("its event 0 is none", 1, {0x20});     // unknown flags
    expect("its event 0 is none", 1, {0x00, 2});  // cut
    expect("its event 0 is none", 1,
           {0x18, 0xff, 0xff, 0xff, 0xff, 0x7f});  // a number above 32 bits
    expect("its event 0 is none", 1, {0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0});  // too long a number
    expect("its event 1 is none", 2, {0x1c});                                   // fewer than the
                                                                                // count
    expect("it goes on after its last event", 1, {0x1c, 0x1c});                 // more
    expect("its event 0 is none", 1, {0x15, 1});  // a message from any source
    write(header + std::string("\xff\xff\xff\xff", 4) + std::string(12, '\0'));
    EXPECT_NE(refusal().find("it cannot be that long"), std::string::npos);
}

TEST_F(RecordingFile, that_is_none_is_refused) {
    EXPECT_NE(refusal().find("cannot be read: No such file or directory"), std::string::npos);
    write("#include <mpi.h>\nint main(void) { return 0; }\n");
    EXPECT_EQ(refusal(), path() + " is no recording of matching");
    EXPECT_THROW(replay::read_recording(directory_), std::runtime_error) << "a directory";
}

TEST_F(RecordingFile, that_cannot_be_made_is_an_error) {
    std::ofstream(directory_ + "/file") << "x";
    EXPECT_THROW(Recording(directory_ + "/file", 0, 1), std::runtime_error);
    std::filesystem::create_directory(path());
    EXPECT_THROW(Recording(directory_, 0, 1), std::runtime_error);
    EXPECT_NO_THROW(Recording(directory_ + "/new/and/deep", 0, 1));
}

TEST_F(RecordingFile, follows_no_link) {
    const std::string other = directory_ + "/somebody's";
    std::ofstream(other) << "precious";
    std::filesystem::create_symlink(other, path());
    EXPECT_THROW(Recording(directory_, 0, 1), std::runtime_error);
    EXPECT_EQ(std::filesystem::file_size(other), 8u);
}

TEST_F(RecordingFile, without_room_says_so_when_it_is_closed) {
    // A limit on the size of files replaces a full disk.
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{4, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    Recording recording(directory_, 0, 1);
    recording.post({2, 0, 0});
    const std::string said = recording.close();
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(said, "the recording " + path() + " is incomplete: File too large");
}

TEST_F(RecordingFile, that_is_closed_takes_no_more) {
    Recording recording(directory_, 0, 1);
    recording.post({2, 0, 0});
    EXPECT_EQ(recording.close(), "");
    recording.post({2, 0, 1});
    EXPECT_EQ(recording.close(), "");
    EXPECT_EQ(replay::read_recording(path()).events.size(), 1u);
}

}  // namespace
