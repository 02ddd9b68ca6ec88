// expect: one argument for each parameter that is not Static
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n, ts::i32 m) {});
void f(const ts::Stream &s) { k(s, 1); }
