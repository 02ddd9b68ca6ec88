// expect: write ts::when(condition, [&]{...}, [&]{...}) to branch
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) {
  while (n > 0)
    n -= 1;
});
