//===- GpuRates.cpp - peak rates of a GPU, measured ------------------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor Cores by cuBLAS, if its library is found: a square product of normally distributed
// numbers, since zeros or small integers draw less power and look faster. Vector units by a loop of
// fused multiply-adds in PTX.
//
//===----------------------------------------------------------------------===//

#include "CudaPaths.h"
#include "LoadedKernel.h"
#include "Measuring.h"
#include "ThreadPool.h"
#include "tessera/runtime/Buffer.h"
#include "tessera/runtime/Error.h"
#include <cstring>
#include <dlfcn.h>
#include <random>

namespace tessera::detail {
namespace {

/// A kernel written in PTX, for what the runtime itself has to run.
class PtxKernel {
public:
  PtxKernel(const Stream &stream, const std::string &name, std::string ptx, std::uint32_t threads)
      : stream_(stream) {
    auto image = std::make_shared<KernelImage>();
    image->name = image->entry = name;
    image->target = "sm_80";
    image->threads = threads;
    image->ptx = std::move(ptx);
    std::string key = "runtime's own\n" + image->ptx;
    kernel_ = loadKernel(image, key, stream.state().context);
  }
  void launch(std::span<const std::uint64_t> slots, const Grid &grid) const {
    launchOnGpu(*kernel_, stream_.state(), slots, grid, {kernel_->name, {}});
  }

private:
  Stream stream_;
  std::shared_ptr<const LoadedKernel> kernel_;
};

constexpr int chains = 16, unroll = 8;

/// `rounds` times `chains * unroll` dependent multiply-adds a thread.
std::string multiplyAddPtx() {
  std::string ptx = ".version 7.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry tessera_multiply_add(.param .u64 out, .param .u32 rounds)\n{\n"
                    "  .reg .f32 %a<" +
                    std::to_string(chains) +
                    ">;\n  .reg .f32 %x, %y, %s;\n  .reg .u32 %t, %n;\n  .reg .u64 %p;\n"
                    "  .reg .pred %q;\n"
                    "  ld.param.u32 %n, [rounds];\n  ld.param.u64 %p, [out];\n"
                    "  mov.u32 %t, %tid.x;\n  cvt.rn.f32.u32 %x, %t;\n"
                    "  mul.f32 %x, %x, 0f38D1B717;\n  mul.f32 %y, %x, 0f3F000000;\n";
  for (int i = 0; i < chains; ++i)
    ptx +=
        "  add.f32 %a" + std::to_string(i) + ", %x, 0f" + (i % 2 ? "3F800000" : "40000000") + ";\n";
  ptx += "again:\n";
  for (int u = 0; u < unroll; ++u)
    for (int i = 0; i < chains; ++i) {
      std::string a = "%a" + std::to_string(i);
      ptx += "  fma.rn.f32 " + a + ", " + a + ", %x, %y;\n";
    }
  ptx += "  sub.u32 %n, %n, 1;\n  setp.ne.u32 %q, %n, 0;\n  @%q bra again;\n  mov.f32 %s, %a0;\n";
  for (int i = 1; i < chains; ++i)
    ptx += "  add.f32 %s, %s, %a" + std::to_string(i) + ";\n";
  // Never true, which the assembler cannot know: without a use the loop would be removed.
  return ptx + "  setp.eq.f32 %q, %s, 0f7149F2CA;\n  @%q st.global.f32 [%p], %s;\n  ret;\n}\n";
}

double vectorRate(const Stream &stream, TimingMode mode) {
  const std::uint32_t threads = 512, rounds = 2000;
  PtxKernel kernel(stream, "tessera_multiply_add", multiplyAddPtx(), threads);
  Buffer<float> out(64, Space::device, stream.device());
  const std::int64_t programs = stream.device().info().multiprocessors * std::int64_t(4);
  std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(out.data()), rounds};
  MeasureOptions options;
  options.mode = mode == TimingMode::batched ? TimingMode::burst : mode;
  Timing timing = timeLaunches(
      stream, [&](std::size_t) { kernel.launch(slots, Grid{programs, 1, 1}); }, options);
  double flops = 2.0 * chains * unroll * rounds * threads * double(programs);
  return flops / timing.median * 1e-9;
}

struct Cublas {
  using Handle = struct CublasTag *;
  int (*create)(Handle *) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*setStream)(Handle, void *) = nullptr;
  int (*gemm)(Handle, int, int, int, int, int, const void *, const void *, int, int, const void *,
              int, int, const void *, void *, int, int, int, int) = nullptr;

  static const Cublas *find() {
    static const auto *found = []() -> const Cublas * {
      std::string path, tried;
      // cublasLt first: where libraries lie in folders of their own, the loader finds it by name.
      openFirst(libraryCandidates("libcublasLt", "cublas"), path, tried);
      void *library = openFirst(libraryCandidates("libcublas", "cublas"), path, tried);
      if (!library)
        return nullptr;
      auto *api = new Cublas;
      api->create = reinterpret_cast<decltype(api->create)>(dlsym(library, "cublasCreate_v2"));
      api->destroy = reinterpret_cast<decltype(api->destroy)>(dlsym(library, "cublasDestroy_v2"));
      api->setStream =
          reinterpret_cast<decltype(api->setStream)>(dlsym(library, "cublasSetStream_v2"));
      api->gemm = reinterpret_cast<decltype(api->gemm)>(dlsym(library, "cublasGemmEx"));
      return api->create && api->destroy && api->setStream && api->gemm ? api : nullptr;
    }();
    return found;
  }
};

/// How cuBLAS is asked for a unit's product.
struct Product {
  const char *unit;
  DType input;
  int inputType, outputType, computeType; ///< cudaDataType_t, cudaDataType_t, cublasComputeType_t
  std::size_t outputBytes;
  int size;
};
constexpr Product products[] = {
    {"bf16", DType::bf16, 14, 14, 68, 2, 8192}, {"f16", DType::f16, 2, 2, 68, 2, 8192},
    {"tf32", DType::f32, 0, 0, 77, 4, 8192},    {"i8", DType::i8, 3, 10, 72, 4, 8192},
    {"f64", DType::f64, 1, 1, 70, 8, 4096},
};

std::uint16_t toF16(float value) {
  // Normal numbers of magnitude about 1: no overflow, and what is subnormal may be zero.
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  int exponent = int(bits >> 23 & 255) - 127 + 15;
  std::uint32_t sign = bits >> 16 & 0x8000;
  return exponent <= 0 ? std::uint16_t(sign)
                       : std::uint16_t(sign | std::uint32_t(exponent) << 10 | (bits >> 13 & 0x3FF));
}

/// `count` elements, normal with mean 0 and deviation 1 (integers: 20).
std::vector<std::byte> normalNumbers(DType type, std::size_t count) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<std::byte> bytes(count * sizeOf(type));
  for (std::size_t i = 0; i < count; ++i) {
    float value = normal(random);
    std::byte *at = bytes.data() + i * sizeOf(type);
    std::uint32_t bits;
    std::memcpy(&bits, &value, 4);
    if (type == DType::bf16) {
      auto half = std::uint16_t(bits >> 16);
      std::memcpy(at, &half, 2);
    } else if (type == DType::f16) {
      std::uint16_t half = toF16(value);
      std::memcpy(at, &half, 2);
    } else if (type == DType::i8) {
      *at = std::byte(std::int8_t(std::max(-127.0f, std::min(127.0f, value * 20))));
    } else if (type == DType::f64) {
      double wide = value;
      std::memcpy(at, &wide, 8);
    } else {
      std::memcpy(at, &value, 4);
    }
  }
  return bytes;
}

/// Device memory of `bytes` filled with repetitions of `pattern`.
Buffer<std::byte> repeated(const Stream &stream, std::span<const std::byte> pattern,
                           std::size_t bytes) {
  Buffer<std::byte> buffer(bytes, Space::device, stream.device());
  std::size_t done = std::min(pattern.size(), bytes);
  copyAsync(stream, buffer.data(), pattern.data(), done);
  for (; done < bytes; done += std::min(done, bytes - done))
    copyAsync(stream, buffer.data() + done, buffer.data(), std::min(done, bytes - done));
  stream.synchronize();
  return buffer;
}

double productRate(const Stream &stream, const Product &product, TimingMode mode) {
  const Cublas *cublas = Cublas::find();
  if (!cublas)
    return 0;
  GpuContext &context = *stream.state().context;
  CurrentContext current(context);
  auto n = std::size_t(product.size);
  std::vector<std::byte> pattern = normalNumbers(product.input, 1 << 20);
  Buffer<std::byte> a = repeated(stream, pattern, n * n * sizeOf(product.input)),
                    b = repeated(stream, pattern, n * n * sizeOf(product.input)),
                    c(n * n * product.outputBytes, Space::device, stream.device());
  Cublas::Handle handle = nullptr;
  if (cublas->create(&handle) != 0)
    return 0;
  struct Closer {
    const Cublas *cublas;
    Cublas::Handle handle;
    ~Closer() { cublas->destroy(handle); }
  } closer{cublas, handle};
  if (cublas->setStream(handle, stream.handle()) != 0)
    return 0;
  alignas(8) std::byte one[8] = {}, zero[8] = {};
  const float oneFloat = 1;
  const double oneDouble = 1;
  const std::int32_t oneInteger = 1;
  if (product.input == DType::f64)
    std::memcpy(one, &oneDouble, 8);
  else if (product.input == DType::i8)
    std::memcpy(one, &oneInteger, 4);
  else
    std::memcpy(one, &oneFloat, 4);
  const int transposed = 1, plain = 0, anyAlgorithm = -1;
  int status = 0;
  MeasureOptions options;
  options.mode = mode == TimingMode::batched ? TimingMode::burst : mode;
  Timing timing = timeLaunches(
      stream,
      [&](std::size_t) {
        status |= cublas->gemm(handle, transposed, plain, product.size, product.size, product.size,
                               one, a.data(), product.inputType, product.size, b.data(),
                               product.inputType, product.size, zero, c.data(), product.outputType,
                               product.size, product.computeType, anyAlgorithm);
      },
      options);
  return status == 0 ? 2.0 * double(n) * double(n) * double(n) / timing.median * 1e-9 : 0;
}

} // namespace

double gpuRate(const Stream &stream, const std::string &unit, TimingMode mode) {
  if (unit == "vector" || unit == "f32")
    return vectorRate(stream, mode);
  for (const Product &product : products)
    if (unit == product.unit)
      return productRate(stream, product, mode);
  return 0;
}

double emptyLaunchMs(const Stream &stream, TimingMode mode) {
  MeasureOptions options;
  options.mode = mode;
  if (!stream.device().isGpu())
    return timeLaunches(stream,
                        [](std::size_t) {
                          auto &pool = ThreadPool::instance();
                          pool.run(pool.width(), [](std::int64_t, std::int64_t) {});
                        })
        .median;
  PtxKernel kernel(stream, "tessera_empty",
                   ".version 7.0\n.target sm_80\n.address_size 64\n"
                   ".visible .entry tessera_empty() { ret; }\n",
                   128);
  return timeLaunches(
             stream, [&](std::size_t) { kernel.launch({}, Grid{1, 1, 1}); }, options)
      .median;
}

} // namespace tessera::detail
