// expect: constness and dtype must agree
#include <tessera/tessera.h>
namespace ts = tessera;
auto k = ts::kernel("k", [](ts::Ptr<float> x) {});
void f(const ts::Stream &s, const float *x) { k(s, x); }
