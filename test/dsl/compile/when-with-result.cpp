// expect: a branch of ts::when gives nothing
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) { ts::when(n > 0, [&] { return n + 1; }); });
