#include "shmem-run/message.h"

#include <gtest/gtest.h>

namespace symm::launcher {
namespace {

Setup example() {
  Setup setup;
  setup.n_pes = 8;
  setup.pes = {4, 5, 7};
  setup.command = {"program", "", "with space"};
  setup.environment = {"SHMEM_X=1", "A=b=c"};
  setup.folder = "/some/where";
  setup.secret = std::string(64, 's');
  setup.others = {"one", "two"};
  setup.address = "10.0.0.1";
  setup.bind_to_core = true;
  return setup;
}

TEST(Message, SetupComesBack) {
  const launcher::Setup sent = example();
  auto got = decode_setup(encode(sent));
  ASSERT_TRUE(got.ok()) << got.status().text();
  EXPECT_EQ(encode(got.value()), encode(sent));
  EXPECT_EQ(got.value().pes, sent.pes);
  EXPECT_EQ(got.value().command, sent.command);
  EXPECT_EQ(got.value().environment, sent.environment);
  EXPECT_EQ(got.value().secret, sent.secret);
  EXPECT_TRUE(got.value().bind_to_core);
}

TEST(Message, EveryShortOrLongSetupIsRefused) {
  const std::string whole = encode(example());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_setup(std::string_view(whole).substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(decode_setup(whole + "x").ok());
  launcher::Setup wrong = example();
  wrong.pes = {8};
  EXPECT_FALSE(decode_setup(encode(wrong)).ok());
}

TEST(Message, ArrivesInAnyPieces) {
  const std::string bytes = encode(MessageKind::kOutput, 3, "hello") +
                            encode(MessageKind::kBeat, 0, "") +
                            encode(MessageKind::kExit, -1, "256");
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    MessageReader reader;
    std::vector<Message> got;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      while (true) {
        auto next = reader.next();
        ASSERT_TRUE(next.ok());
        if (!next.value()) break;
        got.push_back(*next.value());
      }
    }
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].text, "hello");
    EXPECT_EQ(got[0].number, 3);
    EXPECT_EQ(got[1].kind, MessageKind::kBeat);
    EXPECT_EQ(got[2].number, -1);
  }
}

TEST(Message, JunkIsRefused) {
  MessageReader text;
  text.append("Welcome to this machine\n");
  EXPECT_FALSE(text.next().ok());
  MessageReader large;
  large.append(std::string("\xff\xff\xff\x7f\x11\0\0\0\0", 9));
  EXPECT_FALSE(large.next().ok());
}

TEST(Message, GreetingAfterWhatALoginShellPrints) {
  MessageReader reader;
  reader.append("Welcome!\nshmem-run pa");
  EXPECT_FALSE(reader.pass_greeting().value());
  reader.append(std::string("rt 1\n") + encode(MessageKind::kAddress, 0, "tcp://h:1"));
  ASSERT_TRUE(reader.pass_greeting().value());
  EXPECT_EQ(reader.next().value()->text, "tcp://h:1");
  MessageReader endless;
  endless.append(std::string(kMaxBeforeGreeting + 1, 'x'));
  EXPECT_FALSE(endless.pass_greeting().ok());
}

}  // namespace
}  // namespace symm::launcher
