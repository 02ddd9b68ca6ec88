// expect: write a | b, which takes tiles of i1
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) { auto v = n > 0 || n < 3; });
