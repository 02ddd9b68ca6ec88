// z = x + y, checked: the program of the guide's first page.
#include <cstdio>
#include <tessera/tessera.h>
#include <vector>
namespace ts = tessera;

auto add = ts::kernel("add", [](ts::Ptr<const float> x, ts::Ptr<const float> y, ts::Ptr<float> z,
                                ts::i32 n, ts::Static<int> BLOCK) {
  ts::grid(ts::cdiv(n, BLOCK));
  auto i = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
  auto mask = i < n;
  ts::store(z + i, ts::load(x + i, mask) + ts::load(y + i, mask), mask);
});

int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n);
  for (int i = 0; i != n; ++i) {
    a[i] = float(i);
    b[i] = 0.5f * float(i % 7);
  }

  ts::Stream stream;
  ts::Buffer<float> x(stream, a), y(stream, b), z(n);
  z.poison(stream);
  add.with(256)(stream, x, y, z, n);

  std::vector<float> sums = z.toVector(stream);
  for (int i = 0; i != n; ++i)
    if (sums[i] != a[i] + b[i]) {
      std::printf("element %d: expected %g, got %g\n", i, a[i] + b[i], sums[i]);
      return 1;
    }
  std::printf("%d sums right on %s\n", n, stream.device().target().c_str());
  return 0;
}
