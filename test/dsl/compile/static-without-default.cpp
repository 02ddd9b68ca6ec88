// expect: write .with(...) first
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n, ts::Static<int> B) {});
void f(const ts::Stream &s) { k(s, 1); }
