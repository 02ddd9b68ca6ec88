// expect: captures nothing
#include <tessera/tessera.h>
namespace ts = tessera;
void f(int n) {
  auto k = ts::kernel("k", [n](ts::i32 m) { ts::print("", m + n); });
}
