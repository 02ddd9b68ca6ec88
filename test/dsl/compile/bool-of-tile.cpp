// expect: ts::select(condition, a, b) to choose between values
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::i32 n) { bool b = n == 3; });
