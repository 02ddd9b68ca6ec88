// expect: a plain C++ type does not say whether it is known at compile time or at launch
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](int n) {});
