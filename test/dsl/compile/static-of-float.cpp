// expect: a static aggregate holds integers, bools and enums
#include <tessera/tessera.h>
namespace ts = tessera;
struct Config {
  float alpha = 1;
};
auto k = ts::kernel("k", [](ts::Static<Config> c) {});
