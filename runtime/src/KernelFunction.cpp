//===- KernelFunction.cpp - choosing the code for a launch -----------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of variants is an immutable list behind an atomic pointer. Launches read it; a miss
// makes a longer copy under a lock. A kernel has a handful of variants, so a list is the fastest
// thing to search, and replaced lists are kept until the kernel goes: they are tiny.
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "LoadedKernel.h"
#include "Obtain.h"
#include "tessera/runtime/Compilation.h"
#include "tessera/runtime/Error.h"

namespace tessera {

using detail::FactPlan;
using detail::GpuContext;
using detail::LaunchNote;
using detail::LoadedKernel;
using detail::PackedFacts;

namespace {

struct Variant {
  GpuContext *context; ///< null: the CPU
  PackedFacts facts;
  std::shared_ptr<const LoadedKernel> kernel;
};
using Variants = std::vector<Variant>;

constexpr Grid gridLimits{2147483647, 65535, 65535};

} // namespace

struct KernelFunction::Impl {
  explicit Impl(KernelDefinition given)
      : definition(std::move(given)), name(detail::intern(definition.name)), plan(definition) {}

  const LoadedKernel &find(GpuContext *context, const PackedFacts &facts, const LaunchNote &note);
  const LoadedKernel &add(GpuContext *context, const PackedFacts &facts, const LaunchNote &note);
  PackedFacts check(std::span<const std::uint64_t> slots, const LaunchNote &note) const;
  Grid defaultGrid(const KernelImage &image, std::span<const std::uint64_t> slots,
                   const LaunchNote &note) const;
  std::string reason(GpuContext *context, const PackedFacts &facts) const;

  KernelDefinition definition;
  const char *name;
  FactPlan plan;
  std::atomic<const Variants *> published{nullptr};
  std::mutex mutex;
  std::vector<std::unique_ptr<const Variants>> lists;
};

KernelFunction::KernelFunction(KernelDefinition definition)
    : impl_(std::make_unique<Impl>(std::move(definition))) {}
KernelFunction::~KernelFunction() = default;
KernelFunction::KernelFunction(KernelFunction &&) noexcept = default;
KernelFunction &KernelFunction::operator=(KernelFunction &&) noexcept = default;

const KernelDefinition &KernelFunction::definition() const { return impl_->definition; }

std::size_t KernelFunction::slotCount() const { return impl_->plan.size(); }

PackedFacts KernelFunction::Impl::check(std::span<const std::uint64_t> slots,
                                        const LaunchNote &note) const {
  if (slots.size() != plan.size()) [[unlikely]]
    throw LaunchError(detail::launchPrefix(note) + "expected " + std::to_string(plan.size()) +
                      " argument slots, got " + std::to_string(slots.size()));
  PackedFacts facts;
  if (!plan.compute(slots, facts)) [[unlikely]]
    plan.complain(slots, detail::launchPrefix(note));
  return facts;
}

const LoadedKernel &KernelFunction::Impl::find(GpuContext *context, const PackedFacts &facts,
                                               const LaunchNote &note) {
  if (const Variants *variants = published.load(std::memory_order_acquire)) [[likely]]
    for (const Variant &variant : *variants)
      if (variant.context == context && variant.facts == facts)
        return *variant.kernel;
  return add(context, facts, note);
}

const LoadedKernel &KernelFunction::Impl::add(GpuContext *context, const PackedFacts &facts,
                                              const LaunchNote &note) {
  // The cold path compiles outside of the lock; two threads that miss alike share the result.
  std::string target = context ? context->device().target() : "cpu";
  KernelSpec spec = detail::specOf(definition, target, FactPlan::unpack(facts, plan.size()));
  std::string key = detail::cacheKey(definition, spec);
  std::shared_ptr<const LoadedKernel> kernel;
  try {
    auto image = detail::obtain(definition, spec, key, [&] { return reason(context, facts); });
    kernel = detail::loadKernel(std::move(image), key, context);
  } catch (const LaunchError &error) {
    // Where compiling is forbidden, code that assumes less of its arguments serves as well.
    const Variants *variants = published.load(std::memory_order_acquire);
    if (!compilingForbidden())
      throw LaunchError(detail::launchPrefix(note) + error.what());
    for (std::size_t i = 0; variants && i < variants->size() && !kernel; ++i) {
      const Variant &variant = (*variants)[i];
      bool assumesLess = variant.context == context;
      for (std::size_t word = 0; word < facts.size(); ++word)
        assumesLess &= (variant.facts[word] & ~facts[word]) == 0;
      if (assumesLess)
        kernel = variant.kernel;
    }
    if (!kernel)
      throw LaunchError(detail::launchPrefix(note) + error.what());
    return *kernel;
  }
  std::lock_guard lock(mutex);
  const Variants *old = published.load(std::memory_order_relaxed);
  if (old)
    for (const Variant &variant : *old)
      if (variant.context == context && variant.facts == facts)
        return *variant.kernel;
  auto list = old ? std::make_unique<Variants>(*old) : std::make_unique<Variants>();
  list->push_back({context, facts, std::move(kernel)});
  const LoadedKernel &added = *list->back().kernel;
  published.store(list.get(), std::memory_order_release);
  lists.push_back(std::move(list));
  return added;
}

std::string KernelFunction::Impl::reason(GpuContext *context, const PackedFacts &facts) const {
  const Variants *variants = published.load(std::memory_order_acquire);
  const Variant *nearest = nullptr;
  int fewest = 0;
  for (std::size_t i = 0; variants && i < variants->size(); ++i) {
    const Variant &variant = (*variants)[i];
    int differing = 0;
    for (std::size_t word = 0; word < facts.size(); ++word)
      differing += std::popcount(variant.facts[word] ^ facts[word]);
    if (variant.context == context && (!nearest || differing < fewest)) {
      nearest = &variant;
      fewest = differing;
    }
  }
  if (!nearest)
    return variants ? "first launch on this device" : "first launch";
  std::vector<std::uint8_t> before = FactPlan::unpack(nearest->facts, plan.size()),
                            now = FactPlan::unpack(facts, plan.size());
  std::string text;
  auto compare = [&](std::size_t slot, Fact fact, const char *what) {
    if (has(before[slot], fact) == has(now[slot], fact))
      return;
    text += (text.empty() ? "" : ", ") + plan.nameOfSlot(slot) +
            (has(now[slot], fact) ? " is now " : " is no longer ") + what;
  };
  for (std::size_t slot = 0; slot < plan.size(); ++slot) {
    compare(slot, Fact::aligned16, "a multiple of 16");
    compare(slot, Fact::one, "1");
    compare(slot, Fact::small, "below 2^31");
  }
  return text;
}

Grid KernelFunction::Impl::defaultGrid(const KernelImage &image,
                                       std::span<const std::uint64_t> slots,
                                       const LaunchNote &note) const {
  if (!image.hasGrid) [[unlikely]]
    throw LaunchError(detail::launchPrefix(note) +
                      "expected a grid: the kernel states none, and the launch gives none");
  Grid grid;
  for (std::size_t axis = 0; axis < 3; ++axis)
    grid[axis] = image.grid[axis].isConstant() ? image.grid[axis].value
                                               : image.grid[axis].evaluate(slots, {1, 1, 1});
  return grid;
}

void KernelFunction::launch(const Stream &stream, std::span<const std::uint64_t> slots,
                            const std::optional<Grid> &override, UserLine line) const {
  LaunchNote note{impl_->name, line};
  PackedFacts facts = impl_->check(slots, note);
  detail::StreamState &state = stream.state();
  const LoadedKernel &kernel = impl_->find(state.context, facts, note);
  Grid grid = override ? *override : impl_->defaultGrid(*kernel.image, slots, note);
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (grid[axis] < 1 || (state.context && grid[axis] > gridLimits[axis])) [[unlikely]]
      throw LaunchError(detail::launchPrefix(note) + "expected a grid." + "xyz"[axis] +
                        (state.context ? " of 1 to " + std::to_string(gridLimits[axis])
                                       : std::string(" of at least 1")) +
                        " programs, got " + std::to_string(grid[axis]));
  if (state.context)
    detail::launchOnGpu(kernel, state, slots, grid, note);
  else
    detail::runOnCpu(kernel, slots, grid, note);
}

std::shared_ptr<const KernelImage>
KernelFunction::prepare(Device device, std::span<const std::uint64_t> slots) const {
  LaunchNote note{impl_->name, {}};
  GpuContext *context = device.isGpu() ? &GpuContext::of(device.ordinal()) : nullptr;
  return impl_->find(context, impl_->check(slots, note), note).image;
}

std::shared_ptr<const KernelImage>
KernelFunction::compileFor(const std::string &target, std::vector<std::uint8_t> facts) const {
  facts.resize(impl_->plan.size());
  KernelSpec spec = detail::specOf(impl_->definition, target, std::move(facts));
  try {
    return detail::obtain(impl_->definition, spec, detail::cacheKey(impl_->definition, spec),
                          [] { return std::string("asked for"); });
  } catch (const LaunchError &error) {
    throw LaunchError(detail::launchPrefix({impl_->name, {}}) + error.what());
  }
}

std::vector<std::uint8_t> KernelFunction::factsOf(std::span<const std::uint64_t> slots) const {
  return FactPlan::unpack(impl_->check(slots, {impl_->name, {}}), impl_->plan.size());
}

Grid KernelFunction::gridOf(Device device, std::span<const std::uint64_t> slots) const {
  LaunchNote note{impl_->name, {}};
  return impl_->defaultGrid(*prepare(device, slots), slots, note);
}

} // namespace tessera
