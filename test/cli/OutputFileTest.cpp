//===- OutputFileTest.cpp - files appear whole or not at all ----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tools/OutputFile.h"
#include "TemporaryFolder.h"
#include "runtime/tools/Npy.h"
#include "tessera/runtime/Error.h"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::tools;
namespace fs = std::filesystem;

namespace {

class OutputFile : public test::TemporaryFolder {
protected:
  static std::string attempt(const std::string &path) {
    return messageOf<Error>([&] { writeFile(path, {"one ", "two"}); });
  }
};

TEST_F(OutputFile, IsWrittenAndReplaced) {
  const std::string path = pathOf("report.html");
  requireWritable(path);
  EXPECT_EQ(fileCount(), 0u) << "to check is not to create";
  EXPECT_EQ(attempt(path), "");
  EXPECT_EQ(contentOf(path), "one two");
  requireWritable(path);
  EXPECT_EQ(contentOf(path), "one two");
  writeFile(path, {"3"});
  EXPECT_EQ(contentOf(path), "3");
  EXPECT_EQ(fileCount(), 1u);
}

TEST_F(OutputFile, NamesItselfAndTheCause) {
  const std::string path = pathOf("nowhere/report.html");
  const std::string expected = path + ": cannot be written: No such file or directory";
  EXPECT_EQ(attempt(path), expected);
  EXPECT_EQ(messageOf<Error>([&] { requireWritable(path); }), expected);
  const std::string folderItself = folder.string() + ": cannot be written: Is a directory";
  EXPECT_EQ(attempt(folder.string()), folderItself);
  EXPECT_EQ(messageOf<Error>([&] { requireWritable(folder.string()); }), folderItself);
}

TEST_F(OutputFile, OnAFullDiskTheOldContentStays) {
  const std::string text = pathOf("text"), array = pathOf("array.npy"), fresh = pathOf("fresh");
  writeFile(text, {"before"});
  writeFile(array, {"before"});
  // A limit on file size is the nearest thing to a full disk that needs no privileges.
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    const std::string large(1000, 'x');
    const std::string why = ": cannot be written: File too large";
    bool right = messageOf<Error>([&] { writeFile(text, {"x", large}); }) == text + why;
    right &= messageOf<Error>([&] { writeFile(fresh, {large}); }) == fresh + why;
    right &=
        messageOf<Error>([&] { writeNpy(array, {99}, std::vector<float>(99)); }) == array + why;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contentOf(text), "before");
  EXPECT_EQ(contentOf(array), "before");
  EXPECT_EQ(fileCount(), 2u) << "nothing half written is left";
}

TEST_F(OutputFile, ADeviceIsNotReplaced) {
  EXPECT_EQ(attempt("/dev/full"), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(attempt("/dev/null"), "");
  for (const char *path : {"/dev/full", "/dev/null"})
    EXPECT_TRUE(fs::is_character_file(path)) << path;
}

TEST_F(OutputFile, APipeIsNotReplaced) {
  const std::string path = pathOf("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::jthread reader([&] { got = contentOf(path); });
  EXPECT_EQ(attempt(path), "");
  reader.join();
  EXPECT_EQ(got, "one two");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(OutputFile, FollowsASymbolicLink) {
  writeFile(pathOf("target"), {"before"});
  fs::create_symlink(pathOf("target"), pathOf("link"));
  EXPECT_EQ(attempt(pathOf("link")), "");
  EXPECT_TRUE(fs::is_symlink(pathOf("link")));
  EXPECT_EQ(contentOf(pathOf("target")), "one two");
}

} // namespace
