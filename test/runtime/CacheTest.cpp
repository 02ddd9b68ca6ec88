//===- CacheTest.cpp - the cache on disk and whatever befalls it -----------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
//===----------------------------------------------------------------------===//

#include "tessera/runtime/Cache.h"
#include "FakeCompiler.h"
#include "tessera/runtime/Error.h"
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;

namespace {

class CacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    folder =
        fs::temp_directory_path() / ("tessera-cache-" + std::to_string(std::random_device()()));
  }
  void TearDown() override {
    std::error_code ignored;
    fs::permissions(folder, fs::perms::owner_all, ignored);
    fs::remove_all(folder, ignored);
  }
  static KernelImage imageNamed(const std::string &name) {
    KernelImage image;
    image.name = name;
    image.code.resize(1000, std::byte(7));
    return image;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(folder))
      for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
          found.push_back(entry.path());
    return found;
  }
  fs::path folder;
};

// Each in a process of its own: the process's cache is made once.
TEST_F(CacheTest, KeepsNothingWhereCompilingIsLookedInto) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto usesDisk = [](const char *variable) {
    setenv(variable, "folder", 1);
    std::_Exit(Cache::instance().directory().empty() ? 0 : 1);
  };
  EXPECT_EXIT(usesDisk("TESSERA_DUMP"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(usesDisk("TESSERA_OVERRIDE"), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(usesDisk("TESSERA_CACHE_DIR"), ::testing::ExitedWithCode(1), "");
}

TEST_F(CacheTest, FindsInMemoryAndOnDisk) {
  Cache cache(folder);
  EXPECT_EQ(cache.find("key").image, nullptr);
  cache.insert("key", imageNamed("a"));
  EXPECT_FALSE(cache.find("key").fromDisk);
  EXPECT_EQ(files().size(), 1u);
  Cache another(folder);
  Cache::Found found = another.find("key");
  ASSERT_NE(found.image, nullptr);
  EXPECT_TRUE(found.fromDisk);
  EXPECT_EQ(found.image->name, "a");
  EXPECT_FALSE(another.find("key").fromDisk);
  EXPECT_EQ(another.find("other").image, nullptr);
}

TEST_F(CacheTest, DamagedEntriesAreMissesAndAreReplaced) {
  Cache(folder).insert("key", imageNamed("a"));
  fs::path path = files().at(0);
  auto size = fs::file_size(path);
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < 200; ++i) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    auto at = std::streamoff(random() % size);
    file.seekg(at);
    char byte = char(file.get());
    file.seekp(at);
    file.put(char(byte ^ (1 << random() % 8)));
    file.close();
    ASSERT_EQ(Cache(folder).find("key").image, nullptr) << "byte " << at;
    Cache(folder).insert("key", imageNamed("a"));
    ASSERT_NE(Cache(folder).find("key").image, nullptr);
  }
  for (std::uintmax_t cut : {std::uintmax_t(0), std::uintmax_t(5), size / 2, size - 1}) {
    fs::resize_file(path, cut);
    EXPECT_EQ(Cache(folder).find("key").image, nullptr) << "cut at " << cut;
    Cache(folder).insert("key", imageNamed("a"));
  }
  EXPECT_NE(Cache(folder).find("key").image, nullptr);
}

TEST_F(CacheTest, AnotherKeysFileIsNotTaken) {
  Cache(folder).insert("one", imageNamed("one"));
  fs::path one = files().at(0);
  Cache(folder).insert("two", imageNamed("two"));
  for (const fs::path &path : files())
    if (path != one)
      fs::copy_file(one, path, fs::copy_options::overwrite_existing);
  EXPECT_EQ(Cache(folder).find("two").image, nullptr);
  EXPECT_NE(Cache(folder).find("one").image, nullptr);
}

TEST_F(CacheTest, AnUnusableFolderCostsOneWarning) {
  std::ofstream(folder) << "a file, not a folder";
  Cache cache(folder);
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i)
    cache.insert("key" + std::to_string(i), imageNamed("a"));
  std::string warnings = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(warnings.find("tessera: warning: cannot write the kernel cache"), 0u) << warnings;
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1);
  EXPECT_NE(cache.find("key1").image, nullptr) << "memory still serves";
}

TEST_F(CacheTest, AFullDiskCostsOneWarningAndLeavesNothing) {
  // A limit on file size is the nearest thing to a full disk that needs no privileges.
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    freopen("/dev/null", "w", stderr);
    Cache cache(folder);
    cache.insert("key", imageNamed("a"));
    bool fine = cache.find("key").image && files().empty();
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CacheTest, AFolderThatMayNotBeReadCostsOneWarningThatNamesTheFile) {
  Cache(folder).insert("key", imageNamed("a"));
  const std::string path = files().at(0).string();
  // In a child, since root may read everything until it becomes somebody else.
  pid_t child = fork();
  if (child == 0) {
    fs::permissions(files().at(0), fs::perms::none);
    fs::permissions(files().at(0).parent_path(), fs::perms::all);
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(2);
    ::testing::internal::CaptureStderr();
    Cache cache(folder);
    bool fine = !cache.find("key").image && !cache.find("key").image;
    fine &= ::testing::internal::GetCapturedStderr() ==
            "tessera: warning: cannot read the kernel cache: " + path +
                ": Permission denied; kernels are compiled again where it is needed\n";
    // It is as good as absent: what is compiled takes its place.
    cache.insert("key", imageNamed("b"));
    fine &= Cache(folder).find("key").image != nullptr;
    _exit(fine ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(CacheTest, AFolderThatCannotBeListedIsAnError) {
  EXPECT_TRUE(Cache(folder).entries().empty()) << "nobody used it yet";
  std::ofstream(folder) << "a file, not a folder";
  const auto messageOf = [](auto action) -> std::string {
    try {
      action();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  const std::string expected = folder.string() + ": cannot be read: Not a directory";
  EXPECT_EQ(messageOf([&] { Cache(folder).entries(); }), expected);
  EXPECT_EQ(messageOf([&] { Cache(folder).trim(0); }), expected);
}

TEST_F(CacheTest, AWholeEntryThatIsNoImageIsReplaced) {
  Cache(folder).write("key", "a text, with a checksum that is right");
  EXPECT_EQ(Cache(folder).find("key").image, nullptr);
  Cache(folder).insert("key", imageNamed("b"));
  EXPECT_EQ(Cache(folder).find("key").image->name, "b");
}

TEST_F(CacheTest, AnotherVersionsEntryIsReplaced) {
  Cache(folder).insert("key", imageNamed("a"));
  const fs::path path = files().at(0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(7); // the version, last of the eight bytes that begin each entry
  file.put('0');
  file.close();
  EXPECT_EQ(Cache(folder).find("key").image, nullptr);
  EXPECT_EQ(Cache(folder).entries().at(0).key, "") << "listed as damaged";
  Cache(folder).insert("key", imageNamed("b"));
  EXPECT_EQ(Cache(folder).find("key").image->name, "b");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CacheTest, ManyProcessesShareAFolder) {
  std::vector<pid_t> children;
  for (int c = 0; c < 6; ++c) {
    pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < 60; ++i) {
        Cache cache(folder);
        std::string key = "key" + std::to_string(i % 7);
        if (auto image = cache.find(key).image; image && image->name != key)
          _exit(1);
        cache.insert(key, imageNamed(key));
        if (auto text = cache.read("text"); text && *text != "value")
          _exit(2);
        cache.write("text", "value");
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  EXPECT_EQ(files().size(), 8u) << "no temporary files are left";
}

TEST_F(CacheTest, ListsAndTrims) {
  Cache cache(folder);
  for (int i = 0; i < 5; ++i)
    cache.insert("key" + std::to_string(i), imageNamed("a"));
  std::vector<Cache::Entry> entries = cache.entries();
  ASSERT_EQ(entries.size(), 5u);
  for (const Cache::Entry &entry : entries)
    if (entry.key != "key3") {
      timespec old[2] = {{1000, 0}, {1000, 0}};
      utimensat(AT_FDCWD, entry.path.c_str(), old, 0);
    }
  EXPECT_EQ(cache.trim(entries[0].bytes), 4u);
  entries = cache.entries();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].key, "key3");
  EXPECT_EQ(cache.trim(0), 1u);
}

TEST_F(CacheTest, TextsAreKeptAndChecked) {
  Cache cache(folder);
  EXPECT_EQ(cache.read("ceiling"), std::nullopt);
  cache.write("ceiling", "42.5");
  EXPECT_EQ(Cache(folder).read("ceiling"), "42.5");
  std::ofstream(files().at(0)) << "rubbish";
  EXPECT_EQ(cache.read("ceiling"), std::nullopt);
}

TEST(WarmStart, NeitherTracesNorCompiles) {
  FreshCompiler compiler;
  int traced = 0;
  KernelDefinition definition = definitionOf("warm");
  definition.trace = [&] { ++traced; };
  compiler->cpuEntry = [](const std::uint64_t *, std::int64_t, std::int64_t, const std::int64_t *,
                          const CpuContext *) {};
  Stream stream(Device::cpu());
  float x = 0;
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(&x), 3};
  std::uint64_t before = compileCount();
  KernelFunction(definition).launch(stream, slots, Grid{1, 1, 1});
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(compileCount(), before + 1);
  Cache::instance().forgetMemory(); // as a new process would start
  KernelFunction(definition).launch(stream, slots, Grid{1, 1, 1});
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(compiler->compiles, 1);
  EXPECT_EQ(compileCount(), before + 1);
  EXPECT_TRUE(compileEvents().back().fromDisk);
  definition.buildId = "rebuilt";
  KernelFunction(definition).launch(stream, slots, Grid{1, 1, 1});
  EXPECT_EQ(traced, 2);
}

} // namespace
