// expect: this view is const
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::View<const float, 1> x) { x.tile({0}, {8}).store(1.0f); });
