#include "shmem-cc/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace symm::cc {
namespace {

using testing::HasSubstr;
using testing::Not;

// The text with runs of blanks as one blank, to compare shapes.
std::string squeeze(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += c;
  }
  return result;
}

// Every rewriting must keep the number of lines.
std::string rewritten(std::string_view text) {
  const Rewritten result = rewrite(text);
  for (const RewriteError& error : result.errors) ADD_FAILURE() << error.text;
  if (!result.changed) return std::string(text);
  const auto lines = [](std::string_view t) { return std::count(t.begin(), t.end(), '\n'); };
  EXPECT_EQ(lines(text), lines(result.text)) << result.text;
  return squeeze(result.text);
}

// As if our headers were included.
std::string with_headers(std::string_view text) {
  return rewritten("int symm_rt_enter ( ) ; class Launcher ; " + std::string(text));
}

std::string first_error(std::string_view text) {
  const Rewritten result = rewrite(text);
  return result.errors.empty() ? "" : result.errors[0].text;
}

std::string launch(const std::string& name, const std::string& call) {
  return "::symm::launch(\"" + name + "\", [=](auto... symm_args) -> decltype(" + call +
         "(symm_args...)) { " + call + "(symm_args...); }, ";
}

TEST(RewriterTest, TextWithoutOurWordsIsLeftAlone) {
  for (const char* text :
       {"int main() { return 1 << 3 >> 1; }", "std::cout << \"k<<<1, 2, 3>>>(x)\" << R\"(a<<<b)\";",
        "template <class T> void operator<<<int>(T);", "// k<<<1, nullptr, s>>>(a)\n",
        "auto x = f<g<h<int>>>(3);", "int big = 1'000'000;"}) {
    EXPECT_FALSE(rewrite(text).changed) << text;
    EXPECT_TRUE(rewrite(text).errors.empty()) << text;
  }
}

struct KernelCase {
  const char* text;
  const char* guard;
};

TEST(RewriterTest, KernelDefinitionsGetTheirGuard) {
  const KernelCase cases[] = {
      {"extern \"C\" __global__ __aicore__ void k(uint8_t* a) { body(); }", "(\"k\", 1, 2)"},
      {"extern \"C\" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void k(int "
       "a)\n{\nbody();}",
       "(\"k\", 0, 1)"},
      {"__global__ __vector__ void k() { }", "(\"k\", 0, 1)"},
      {"extern \"C\" __aicore__ __global__ void k(int a) { }", "(\"k\", 1, 2)"},
      {"template <typename T, int N = (2 > 1)> [[bisheng::core_ratio(1, 1)]] __global__ __aicore__ "
       "void k(T a) { }",
       "(\"k\", 1, 1)"},
      {"template <> __global__ __aicore__ void k<int>(int a) { }", "(\"k\", 1, 2)"},
      {"__mix__(1, 2) __global__ __aicore__ void k(int a = (3), void (*f)(int) = nullptr) { }",
       "(\"k\", 1, 2)"},
      {"__global__ __cube__ void k() { }", "(\"k\", 1, 0)"},
      {"__global__ __launch_bounds__(32) __vector__ void k() noexcept { }", "(\"k\", 0, 1)"},
      {"__attribute__((visibility(\"default\"))) __global__ __aicore__ void k() { }",
       "(\"k\", 1, 2)"},
      {"static __global__ __aicore__ __schedmode__(1) void k() { }", "(\"k\", 1, 2)"},
  };
  for (const KernelCase& c : cases) {
    const std::string text = with_headers(c.text);
    EXPECT_THAT(text, HasSubstr("{ if (!symm_rt_enter" + std::string(c.guard) + ") return;"))
        << c.text;
    EXPECT_THAT(text, Not(HasSubstr("__global__"))) << c.text;
    EXPECT_THAT(text, Not(HasSubstr("__vector__"))) << c.text;
    EXPECT_THAT(text, Not(HasSubstr("bisheng"))) << c.text;
  }
}

TEST(RewriterTest, SeveralKernelsOnOneLineEachGetTheirOwn) {
  const std::string text = with_headers(
      "extern \"C\" __global__ __aicore__ void put_int(int a) { f(); } "
      "[[bisheng::core_ratio(0,1)]] __global__ void "
      "put_float(float a) { g(); } void helper() { }");
  EXPECT_THAT(text,
              HasSubstr("put_int(int a) { if (!symm_rt_enter(\"put_int\", 1, 2)) return; f(); }"));
  EXPECT_THAT(
      text,
      HasSubstr("put_float(float a) { if (!symm_rt_enter(\"put_float\", 0, 1)) return; g(); }"));
  EXPECT_THAT(text, HasSubstr("void helper() { }"));
}

TEST(RewriterTest, BlockLocalVariablesBecomeFunctions) {
  const std::string text = with_headers(
      "namespace n { [[block_local]] static int count = 3; }\nvoid f() { ++n::count; s.count = "
      "p->count; }");
  EXPECT_THAT(text, HasSubstr("struct symm_holder_count { int count = 3; }; }"));
  EXPECT_THAT(text, HasSubstr("static inline decltype(symm_holder_count::count)& "
                              "symm_block_local_count() {"));
  EXPECT_THAT(text, HasSubstr("++n::symm_block_local_count(); s.count = p->count;"));
  EXPECT_THAT(with_headers("extern \"C\" { [[block_local]] char* p(nullptr); }"),
              HasSubstr("struct symm_holder_p { char* p{nullptr}; };"));
  const std::string table = with_headers(
      "extern [[block_local]] T<int, 2> table[4]; [[block_local]] T<int, 2> table[4];");
  EXPECT_THAT(table, HasSubstr("decltype(symm_holder_table::table)& symm_block_local_table();"));
  EXPECT_THAT(table, HasSubstr("symm_holder_table_defined>(&symm_key).table;"));
}

TEST(RewriterTest, BlockLocalVariablesThatCannotBeRewrittenAreErrors) {
  EXPECT_THAT(first_error("void f() { [[block_local]] int x; }"), HasSubstr("namespace scope"));
  EXPECT_THAT(first_error("struct S { [[block_local]] static int x; };"),
              HasSubstr("namespace scope"));
  EXPECT_THAT(first_error("[[block_local]] int x, y;"), HasSubstr("one [[block_local]] variable"));
  EXPECT_THAT(first_error("[[block_local]] int x; void f() { int x = 1; }"),
              HasSubstr("x is the name of a [[block_local]] variable"));
}

TEST(RewriterTest, DeclarationsWithoutBodyOnlyLoseTheWords) {
  EXPECT_EQ(with_headers("extern \"C\" __global__ __aicore__ void k(__gm__ int* a);"),
            "int symm_rt_enter ( ) ; class Launcher ; extern \"C\" void k( int* a);");
}

TEST(RewriterTest, GuardIsDeclaredWhenOurHeadersAreMissing) {
  EXPECT_EQ(rewrite("# 0 \"a.cpp\"\n__global__ void k() {}\n").text,
            "# 0 \"a.cpp\"\nextern \"C\" int symm_rt_enter(const char*, int, int);\n# 0 \"a.cpp\"\n"
            "           void k() { if (!symm_rt_enter(\"k\", 1, 2)) return;}\n");
}

struct LaunchCase {
  const char* text;
  std::string result;
};

TEST(RewriterTest, LaunchesBecomeCalls) {
  const LaunchCase cases[] = {
      {"k<<<1, nullptr, stream>>>(a, b);", launch("k", "k") + "1, nullptr, stream)(a, b);"},
      {"if (x) ns::k <<<n, 0, s_>>> ();", "if (x) " + launch("k", "ns :: k") + "n, 0, s_) ();"},
      {"return ::k<<<1,0,0>>>(f(1, 2), v.data());",
       "return " + launch("k", ":: k") + "1,0,0)(f(1, 2), v.data());"},
      {"k<int><<<(n + 1) / 2, nullptr, (S)s>>>(a);",
       launch("k", "k < int >") + "(n + 1) / 2, nullptr, (S)s)(a);"},
      {"k<A<B, C>, 3, (4 > 2)>\n    <<<static_cast<int>(n), nullptr, s>>>(a);",
       launch("k", "k < A < B , C > , 3 , ( 4 > 2 ) >") +
           "\n static_cast<int>(n), nullptr, s)(a);"},
      {"KernelAdapter<Kernel><<<n, nullptr, s>>>(Params{1, {2, 3}});",
       launch("KernelAdapter", "KernelAdapter < Kernel >") + "n, nullptr, s)(Params{1, {2, 3}});"},
      {"table[i]<<<1, 0, s>>>(x);", launch("table [ i ]", "table [ i ]") + "1, 0, s)(x);"},
      {"(*f)<<<1, 0, s>>>(x);", launch("( * f )", "( * f )") + "1, 0, s)(x);"},
      {"this->k_<<<1, 0, s>>>(x);", launch("k_", "this -> k_") + "1, 0, s)(x);"},
      {"k<<<grid, block, 0, s>>>(x);", launch("k", "k") + "grid, block, 0, s)(x);"},
      {"k<<<g<h<i<int>>>(), 0, s>>>(x);", launch("k", "k") + "g<h<i<int>>>(), 0, s)(x);"},
      {"k<<<a >> 1, nullptr, s>>>(0, NULL, 00, f(0));",
       launch("k", "k") +
           "a >> 1, nullptr, s)(::symm::LaunchZero{}, ::symm::LaunchZero{}, 00, f(0));"},
  };
  for (const LaunchCase& c : cases) {
    EXPECT_EQ(with_headers(c.text), "int symm_rt_enter ( ) ; class Launcher ; " + c.result)
        << c.text;
  }
}

TEST(RewriterTest, LaunchWithTemplateKeywordIsOneCallee) {
  EXPECT_THAT(with_headers("X::template k<T><<<1, 0, s>>>(x);"),
              HasSubstr("decltype(X :: template k < T >(symm_args...))"));
}

TEST(RewriterTest, LaunchAsksForItsHeader) {
  EXPECT_TRUE(rewrite("k<<<1, nullptr, s>>>(a);").needs_launch_header);
  EXPECT_FALSE(rewrite("class Launcher; k<<<1, nullptr, s>>>(a);").needs_launch_header);
  EXPECT_FALSE(rewrite("__global__ void k() {}").needs_launch_header);
}

TEST(RewriterTest, LineMarkersInsideALaunchStay) {
  EXPECT_THAT(
      rewrite("class Launcher; k<int>\n# 7 \"a.cpp\"\n<<<1, nullptr,\n# 9 \"a.cpp\"\ns>>>(a);")
          .text,
      testing::AllOf(HasSubstr("\n# 7 \"a.cpp\"\n"), HasSubstr("\n# 9 \"a.cpp\"\ns)(a);")));
}

TEST(RewriterTest, MistakesAreNamed) {
  EXPECT_THAT(first_error("k<<<1, s>>>(a);"),
              HasSubstr("<<<blocks, nullptr, stream>>>(arguments)"));
  EXPECT_THAT(first_error("= <<<1, 2, s>>>(a);"),
              HasSubstr("not preceded by the name of a kernel"));
  EXPECT_THAT(first_error("k<<<1, 2, 3, 4, 5>>>(a);"), HasSubstr("three or four values"));
  EXPECT_THAT(first_error("k<<<1, 2, s>>>(a"), HasSubstr("without an end"));
  EXPECT_THAT(first_error("__global__ int k(int a) { }"), HasSubstr("void name(parameters)"));
  EXPECT_THAT(first_error("__global__ void;"), HasSubstr("void name(parameters)"));
}

TEST(RewriterTest, CastsToUbPointersGoThroughUbCast) {
  const LaunchCase cases[] = {
      {"p = reinterpret_cast<__ubuf__ T*>(x + 1);", "p = ::symm::ub_cast< T >(x + 1);"},
      {"p = reinterpret_cast<__ubuf__ const A<B>*>(x);", "p = ::symm::ub_cast< const A<B> >(x);"},
      {"p = static_cast<__ubuf__ int *>(v);", "p = ::symm::ub_cast< int >(v);"},
      {"p = (__ubuf__ int*)x;", "p = ::symm::UbCast< int >()->*x;"},
      {"p = (__ubuf__ uint8_t *)(x + 1);", "p = ::symm::UbCast< uint8_t >()->*(x + 1);"},
      {"f(a, (__ubuf__ T*)t.GetPhyAddr());", "f(a, ::symm::UbCast< T >()->*t.GetPhyAddr());"},
      {"return (__ubuf__ T*)0;", "return ::symm::UbCast< T >()->*0;"},
      {"x = *(__ubuf__ T*)(64);", "x = *::symm::UbCast< T >()->*(64);"},
      {"x = (__ubuf__ T*)(__ubuf__ U*)y;",
       "x = ::symm::UbCast< T >()->*::symm::UbCast< U >()->*y;"},
      {"x = (uint64_t)(__ubuf__ U*)y;", "x = (uint64_t)::symm::UbCast< U >()->*y;"},
      {"using P = __ubuf__ int*; P p = (P)x; q = reinterpret_cast<P>(y); P* r;",
       "using P = volatile int*; P p = ::symm::UbAliasCast<P>()->*x; q = "
       "::symm::ub_alias_cast<P>(y); P* r;"},
      {"typedef __ubuf__ half* H; h = (H)16;",
       "typedef volatile half* H; h = ::symm::UbAliasCast<H>()->*16;"},
  };
  for (const LaunchCase& c : cases) EXPECT_EQ(rewritten(c.text), c.result) << c.text;
}

TEST(RewriterTest, UnnamedParametersAreNoCasts) {
  const LaunchCase cases[] = {
      {"void f(__ubuf__ int*);", "void f(volatile int*);"},
      {"void f(__ubuf__ int*) const { }", "void f(volatile int*) const { }"},
      {"using F = void (*)(__ubuf__ int*);", "using F = void (*)(volatile int*);"},
      {"auto l = [](__ubuf__ int*) -> int { };", "auto l = [](volatile int*) -> int { };"},
      {"auto l = [](__ubuf__ int*) mutable { };", "auto l = [](volatile int*) mutable { };"},
      {"n = sizeof(__ubuf__ int*);", "n = sizeof(volatile int*);"},
      {"__ubuf__ int32_t* flags[2];", "volatile int32_t* flags[2];"},
      {"void f(__gm__ T* g, __ubuf__ T* u) { }", "void f( T* g, volatile T* u) { }"},
  };
  for (const LaunchCase& c : cases) EXPECT_EQ(rewritten(c.text), c.result) << c.text;
}

TEST(RewriterTest, ArraysOfSimtFunctionsAreShared) {
  const std::string text = rewritten(
      "__simt_vf__ __launch_bounds__(32) inline void f(int n) { __ubuf__ int a[4][2]; __ubuf__ "
      "int* p; }\n"
      "void g() { __ubuf__ int b[4]; }");
  EXPECT_THAT(text, HasSubstr("using symm_shared_1 = volatile int [ 4 ] [ 2 ]"));
  EXPECT_THAT(
      text,
      HasSubstr("symm_shared_1& a = *::symm::simt_shared<symm_shared_1>(&symm_shared_1_key) ;"));
  EXPECT_THAT(text, HasSubstr("volatile int* p;"));
  EXPECT_THAT(text, HasSubstr("void g() { volatile int b[4]; }"));
}

TEST(RewriterTest, ErasedWordsKeepTheColumns) {
  EXPECT_EQ(rewrite("__aicore__ inline void f(__gm__ int* a) {}").text,
            "           inline void f(       int* a) {}");
}

}  // namespace
}  // namespace symm::cc
