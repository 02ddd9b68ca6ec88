// expect: write ts::scalar<T>(number) or ts::full<T>(shape, number)
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) {
  auto v = n + 1;
  v = 0;
});
