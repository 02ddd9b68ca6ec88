// expect: ts::select(condition, a, b) to choose between values
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) { auto v = n > 0 ? n : -n; });
