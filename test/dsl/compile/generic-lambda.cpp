// expect: parameters of stated types, not auto
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](auto n) { ts::print("", n); });
