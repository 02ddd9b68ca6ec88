// expect: scalars take C++ numbers of their kind
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) {});
void f(const ts::Stream &s) { k(s, 1.5); }
