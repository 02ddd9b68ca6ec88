// expect: does not fit the kernel
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::Ptr<float> x) {});
void f(const ts::Stream &s, ts::Buffer<double> x) { k(s, x); }
