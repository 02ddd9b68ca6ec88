// expect: does not fit the kernel
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::View<const float, 2> x) {});
void f(const ts::Stream &s, ts::Buffer<float> x) { k(s, ts::view(x, {4})); }
