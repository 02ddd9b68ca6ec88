// expect: write ts::when(condition, [&]{...}, [&]{...}) to branch
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) {
  if (ts::arange(8) > n)
    ts::print("", n);
});
