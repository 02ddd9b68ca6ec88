// A kernel and its use, as a first program would have them: y = x * x + a, then checked.
#include <cstdio>
#include <tessera/tessera.h>
#include <vector>
namespace ts = tessera;

auto squarePlus = ts::kernel("square_plus", [](ts::Ptr<const float> x, ts::Ptr<float> y, ts::f32 a,
                                               ts::i32 n, ts::Static<int> BLOCK) {
  auto i = ts::program_id(0) * BLOCK + ts::arange(BLOCK);
  auto mask = i < n;
  auto v = ts::load(x + i, mask);
  ts::store(y + i, v * v + a, mask);
});

int main() {
  const int n = 1000, block = 256;
  std::vector<float> values(n);
  for (int i = 0; i != n; ++i)
    values[i] = 0.5f * float(i % 37);
  ts::Stream stream;
  ts::Buffer<float> x(stream, values), y(stream, std::vector<float>(n, -1.0f));
  squarePlus.with(block).grid((n + block - 1) / block)(stream, x, y, 2.0f, n);
  std::vector<float> result = y.toVector(stream);
  for (int i = 0; i != n; ++i)
    if (result[i] != values[i] * values[i] + 2.0f) {
      std::printf("element %d: expected %g, got %g\n", i, values[i] * values[i] + 2.0f, result[i]);
      return 1;
    }
  std::printf("%d elements right on %s\n", n, stream.device().target().c_str());
  return 0;
}
