// Compiles without a warning: what the other files here are refused for, written as it should be.
#include <cmath>
#include <tessera/tessera.h>
namespace ts = tessera;

enum class Mode { copy, scale };
struct Config {
  int BLOCK = 128;
  Mode mode = Mode::copy;
  bool causal = false;
};

template <class T>
inline auto k = ts::kernel("k", [](ts::Ptr<const T> x, ts::View<T, 2> y, ts::Scalar<float> s,
                                   ts::i1 flag, ts::Static<Config> c, ts::Static<int> N) {
  auto at = ts::arange(c.BLOCK);
  auto mask = (at < N * 2) & ~(at == 3) | flag;
  ts::Tile v = ts::load(x + at, mask, 0);
  if (c.mode == Mode::scale)
    v = ts::cast<T>(v * s);
  switch (c.mode) {
  case Mode::copy:
    break;
  case Mode::scale:
    v = -v;
    break;
  }
  for (int i = 0; i < N; ++i)
    v += i;
  std::vector<ts::Tile> parts(2, v);
  for (auto i : ts::range(0, y.dim(1), c.BLOCK))
    ts::when(i > 3, [&] { parts[0] += 1; }, [&] { parts[1] = parts[0]; });
  y.at({0, 0}, {1, c.BLOCK}).store(ts::expand(parts[0] + parts[1], 0));
});

void launch(const ts::Stream &stream, ts::Buffer<float> x, const float *raw,
            ts::Buffer<ts::BFloat16> h) {
  auto instance = k<float>.with({.BLOCK = 64, .mode = Mode::scale}, 3, {.warps = 4, .stages = 2});
  instance(stream, x, ts::view(x, {4, 4}), 1.5, true);
  instance.grid(3)(stream, raw, ts::view(x.data(), {4, std::size_t(4)}, {4L, 1}), 2, false);
  k<ts::bf16>.with({}, 1).grid(ts::cdiv(7, 2))(stream, h, ts::view(h, {2, 2}), 1.0f, false);
}
