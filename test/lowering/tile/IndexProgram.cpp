//===- IndexProgram.cpp - random index arithmetic, and what it computes -----===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexProgram.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <numeric>

using namespace mlir;

namespace tessera::test {

using tile::elementTypeOf;
using tile::withElementType;

static std::vector<std::int64_t> shapeOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? std::vector<std::int64_t>(tensor.getShape().begin(), tensor.getShape().end())
                : std::vector<std::int64_t>();
}

static std::int64_t countOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

static std::int64_t wrap(std::int64_t value, Type type) {
  unsigned width = elementTypeOf(type).getIntOrFloatBitWidth();
  return width == 64 ? value : llvm::SignExtend64(static_cast<std::uint64_t>(value), width);
}

/// The source element of each element of a result, by a map of its indices.
template <typename Function>
static Elements gathered(const Elements &source, Type from, Type to, Function sourceIndex) {
  std::vector<std::int64_t> in = shapeOf(from), out = shapeOf(to);
  Elements result(countOf(to));
  for (std::int64_t flat = 0; flat < countOf(to); ++flat) {
    std::vector<std::int64_t> index(out.size());
    std::int64_t rest = flat;
    for (std::size_t d = out.size(); d-- > 0; rest /= out[d])
      index[d] = rest % out[d];
    std::vector<std::int64_t> at = sourceIndex(index);
    std::int64_t position = 0;
    for (std::size_t d = 0; d < in.size(); ++d)
      position = position * in[d] + at[d];
    result[flat] = source[position];
  }
  return result;
}

Interpreter::Interpreter(func::FuncOp func, const Environment &environment) {
  for (BlockArgument argument : func.getArguments())
    set(argument, {environment.arguments[argument.getArgNumber()]});
  for (Operation &op : func.front().without_terminator()) {
    run(&op, environment);
    if (!isDefined)
      return;
  }
}

void Interpreter::run(Operation *op, const Environment &environment) {
  Type type = op->getResult(0).getType();
  auto in = [&](unsigned index) -> const Elements & { return (*this)[op->getOperand(index)]; };
  auto elementwise = [&](auto function) {
    Elements result(countOf(type));
    for (std::size_t i = 0; i < result.size(); ++i) {
      __int128 exact = function(__int128(in(0)[i]), __int128(in(1)[i]));
      result[i] = wrap(std::int64_t(exact), type);
      // Signed overflow of index arithmetic has no meaning.
      if (exact != result[i])
        isDefined = false;
    }
    set(op->getResult(0), result);
  };
  auto positive = [&](unsigned index) {
    isDefined &= llvm::all_of(in(index), [](std::int64_t v) { return v > 0; });
    return isDefined;
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](arith::ConstantOp constant) {
        if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
          return set(constant, {integer.getValue().getSExtValue()});
        Elements elements;
        for (const APInt &element :
             cast<DenseIntElementsAttr>(constant.getValue()).getValues<APInt>())
          elements.push_back(element.getSExtValue());
        set(constant, elements);
      })
      .Case([&](tile::ProgramIdOp id) { set(id, {environment.program}); })
      .Case([&](tile::ArangeOp arange) {
        Elements elements(countOf(type));
        for (std::size_t i = 0; i < elements.size(); ++i)
          elements[i] = std::int64_t(arange.getStart()) + std::int64_t(i);
        set(arange, elements);
      })
      .Case([&](tile::SplatOp splat) { set(splat, Elements(countOf(type), in(0)[0])); })
      .Case([&](tile::ExpandDimsOp expand) { set(expand, in(0)); })
      .Case([&](tile::ReshapeOp reshape) { set(reshape, in(0)); })
      .Case([&](tile::BroadcastOp broadcast) {
        Type from = broadcast.getSource().getType();
        std::vector<std::int64_t> shape = shapeOf(from);
        set(broadcast, gathered(in(0), from, type, [&](std::vector<std::int64_t> index) {
              for (std::size_t d = 0; d < index.size(); ++d)
                index[d] = shape[d] == 1 ? 0 : index[d];
              return index;
            }));
      })
      .Case([&](tile::TransposeOp transpose) {
        set(transpose, gathered(in(0), transpose.getSource().getType(), type,
                                [&](const std::vector<std::int64_t> &index) {
                                  std::vector<std::int64_t> at(index.size());
                                  for (std::size_t d = 0; d < index.size(); ++d)
                                    at[transpose.getPermutation()[d]] = index[d];
                                  return at;
                                }));
      })
      .Case<arith::ExtSIOp>([&](auto extend) { set(extend, in(0)); })
      .Case([&](arith::TruncIOp truncate) {
        Elements elements = in(0);
        for (std::int64_t &element : elements)
          element = wrap(element, type);
        set(truncate, elements);
      })
      .Case<arith::AddIOp>([&](auto) { elementwise([](auto a, auto b) { return a + b; }); })
      .Case<arith::SubIOp>([&](auto) { elementwise([](auto a, auto b) { return a - b; }); })
      .Case<arith::MulIOp>([&](auto) { elementwise([](auto a, auto b) { return a * b; }); })
      .Case<arith::MinSIOp>(
          [&](auto) { elementwise([](auto a, auto b) { return std::min(a, b); }); })
      .Case<arith::MaxSIOp>(
          [&](auto) { elementwise([](auto a, auto b) { return std::max(a, b); }); })
      .Case<arith::AndIOp>([&](auto) { elementwise([](auto a, auto b) { return a & b; }); })
      .Case<arith::OrIOp>([&](auto) { elementwise([](auto a, auto b) { return a | b; }); })
      .Case<arith::XOrIOp>([&](auto) { elementwise([](auto a, auto b) { return a ^ b; }); })
      .Case([&](arith::ExtUIOp extend) {
        unsigned width = elementTypeOf(extend.getIn().getType()).getIntOrFloatBitWidth();
        Elements elements = in(0);
        for (std::int64_t &element : elements)
          element &= static_cast<std::int64_t>(llvm::maskTrailingOnes<std::uint64_t>(width));
        set(extend, elements);
      })
      .Case<arith::DivSIOp>([&](auto) {
        if (positive(1))
          elementwise([](auto a, auto b) { return a / b; });
      })
      .Case<arith::RemSIOp>([&](auto) {
        if (positive(1))
          elementwise([](auto a, auto b) { return a % b; });
      })
      .Case<arith::FloorDivSIOp>([&](auto) {
        if (positive(1))
          elementwise([](auto a, auto b) { return (a - ((a % b) + b) % b) / b; });
      })
      .Case<arith::CeilDivSIOp>([&](auto) {
        if (positive(1))
          elementwise([](auto a, auto b) { return -((-a - ((-a % b) + b) % b) / b); });
      })
      .Case<arith::ShLIOp>(
          [&](auto) { elementwise([](auto a, auto b) { return a * (__int128(1) << int(b)); }); })
      .Case<arith::ShRSIOp>([&](auto) { elementwise([](auto a, auto b) { return a >> int(b); }); })
      .Case([&](arith::CmpIOp compare) {
        Elements result(countOf(type));
        for (std::size_t i = 0; i < result.size(); ++i) {
          APInt a(64, in(0)[i], true), b(64, in(1)[i], true);
          result[i] = arith::applyCmpPredicate(compare.getPredicate(), a, b) ? -1 : 0;
        }
        set(compare, result);
      })
      .Case([&](arith::SelectOp select) {
        Elements result(countOf(type));
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] = in(0)[in(0).size() == 1 ? 0 : i] ? in(1)[i] : in(2)[i];
        set(select, result);
      })
      .Default([](Operation *other) {
        llvm::report_fatal_error("the interpreter does not know " +
                                 other->getName().getStringRef());
      });
}

//===----------------------------------------------------------------------===//
// Random programs
//===----------------------------------------------------------------------===//

namespace {

class Generator {
public:
  Generator(MLIRContext &context, std::mt19937_64 &random)
      : random(random), builder(&context), loc(builder.getUnknownLoc()) {}

  OwningOpRef<ModuleOp> module(int operations) {
    auto module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module.getBody());
    Type i64 = builder.getI64Type();
    auto func =
        builder.create<func::FuncOp>(loc, "f", builder.getFunctionType({i64, i64, i64}, {}));
    func.setArgAttr(0, tile::attr::divisible, builder.getI64IntegerAttr(16));
    func.setArgAttr(1, tile::attr::small, builder.getUnitAttr());
    Block *block = func.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    for (Value argument : block->getArguments())
      values.push_back(argument);
    values.push_back(builder.create<tile::ProgramIdOp>(loc, i64, 0));
    while (operations-- > 0)
      addOperation();
    builder.create<func::ReturnOp>(loc, values);
    SmallVector<Type> types;
    for (Value value : values)
      types.push_back(value.getType());
    func.setFunctionType(builder.getFunctionType({i64, i64, i64}, types));
    return module;
  }

private:
  int below(int bound) { return int(random() % std::uint64_t(bound)); }
  Value any() { return values[below(int(values.size()))]; }
  bool isBool(Value value) { return elementTypeOf(value.getType()).isInteger(1); }
  Value anyInteger() {
    Value value = any();
    while (isBool(value))
      value = any();
    return value;
  }
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  template <typename Op, typename... Args> Value create(Args &&...args) {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }
  Value constant(Type type) {
    static constexpr int64_t choices[] = {1, 2, 3, 4, 6, 8, 12, 16, 32, 48, 128, 1000};
    int64_t value = choices[below(12)];
    auto element = builder.getI64IntegerAttr(value);
    if (auto shaped = dyn_cast<RankedTensorType>(type))
      return create<arith::ConstantOp>(DenseElementsAttr::get(shaped, Attribute(element)));
    return create<arith::ConstantOp>(element);
  }
  /// A value of `type`: one that is there, a splat or a constant.
  Value like(Type type) {
    if (below(3) != 0)
      for (int tries = 0; tries < 8; ++tries)
        if (Value value = any(); value.getType() == type)
          return value;
    if (!isa<RankedTensorType>(type) || below(2) == 0)
      return constant(type);
    for (int tries = 0; tries < 8; ++tries)
      if (Value value = any(); value.getType().isInteger(64))
        return create<tile::SplatOp>(type, value);
    return constant(type);
  }

  void addOperation() {
    switch (below(8)) {
    case 0:
      return addArange();
    case 1:
      return addShape();
    case 2:
      return addComparison();
    case 3:
      return addSelect();
    default:
      return addArithmetic();
    }
  }

  void addArange() {
    static constexpr int64_t extents[] = {1, 2, 8, 16, 32};
    static constexpr int32_t starts[] = {0, 0, 1, 8, 16, 24};
    int64_t extent = extents[below(5)];
    Value narrow = create<tile::ArangeOp>(tensor({extent}, builder.getI32Type()), starts[below(6)]);
    RankedTensorType type = tensor({extent}, builder.getI64Type());
    values.push_back(create<arith::ExtSIOp>(type, narrow));
    // Mostly as kernels have it: counted from some scalar.
    Value base = values[below(4)];
    if (below(4) != 0)
      values.push_back(create<arith::AddIOp>(values.back(), create<tile::SplatOp>(type, base)));
  }
  /// Any integer, one of the last few more often: chains are where analyses go wrong.
  Value recentInteger() {
    if (below(2))
      for (int back = 1; back <= 4; ++back)
        if (Value value = values[values.size() - back]; !isBool(value) && below(2))
          return value;
    return anyInteger();
  }

  void addShape() {
    Value value = any();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      values.push_back(create<tile::SplatOp>(tensor({16}, value.getType()), value));
      return;
    }
    SmallVector<int64_t> shape(type.getShape());
    switch (below(4)) {
    case 0: {
      if (shape.size() > 2)
        return;
      int axis = below(int(shape.size()) + 1);
      shape.insert(shape.begin() + axis, 1);
      values.push_back(
          create<tile::ExpandDimsOp>(tensor(shape, type.getElementType()), value, axis));
      return;
    }
    case 1: {
      for (int64_t &extent : shape)
        if (extent == 1 && type.getNumElements() < 512)
          extent = 4;
      values.push_back(create<tile::BroadcastOp>(tensor(shape, type.getElementType()), value));
      return;
    }
    case 2: {
      SmallVector<int32_t> permutation(shape.size());
      std::iota(permutation.begin(), permutation.end(), 0);
      std::shuffle(permutation.begin(), permutation.end(), random);
      SmallVector<int64_t> permuted;
      for (int32_t d : permutation)
        permuted.push_back(shape[d]);
      values.push_back(create<tile::TransposeOp>(tensor(permuted, type.getElementType()), value,
                                                 builder.getDenseI32ArrayAttr(permutation)));
      return;
    }
    default: {
      int64_t last = std::min<int64_t>(type.getNumElements(), int64_t(1) << below(5));
      values.push_back(create<tile::ReshapeOp>(
          tensor({type.getNumElements() / last, last}, type.getElementType()), value));
      return;
    }
    }
  }

  void addComparison() {
    Value a = recentInteger();
    Value b = like(a.getType());
    if (below(2))
      std::swap(a, b);
    auto predicate = static_cast<arith::CmpIPredicate>(below(10));
    values.push_back(create<arith::CmpIOp>(predicate, a, b));
  }

  void addSelect() {
    Value a = anyInteger();
    Type condition = withElementType(a.getType(), builder.getI1Type());
    for (int tries = 0; tries < 16; ++tries)
      if (Value value = any(); value.getType() == condition || value.getType().isInteger(1)) {
        values.push_back(create<arith::SelectOp>(value, a, like(a.getType())));
        return;
      }
  }

  void addArithmetic() {
    Value a = recentInteger();
    Value b = like(a.getType());
    Type type = a.getType();
    if (below(2))
      std::swap(a, b);
    int choice = below(13);
    // Two large factors overflow, which ends a run: multiply by a constant or a splat of one.
    if (choice == 4)
      b = constant(type);
    else if (choice >= 5 && choice <= 8)
      a = recentInteger(), type = a.getType();
    switch (choice) {
    case 0:
    case 1:
    case 2:
      values.push_back(create<arith::AddIOp>(a, b));
      return;
    case 3:
      values.push_back(create<arith::SubIOp>(a, b));
      return;
    case 4:
      values.push_back(create<arith::MulIOp>(a, b));
      return;
    case 5:
      values.push_back(create<arith::DivSIOp>(a, constant(type)));
      return;
    case 6:
      values.push_back(create<arith::RemSIOp>(a, constant(type)));
      return;
    case 7:
      values.push_back(create<arith::FloorDivSIOp>(a, constant(type)));
      return;
    case 8:
      values.push_back(create<arith::CeilDivSIOp>(a, constant(type)));
      return;
    case 9:
      values.push_back(create<arith::MinSIOp>(a, b));
      return;
    case 10:
      values.push_back(create<arith::AndIOp>(a, b));
      return;
    case 11:
      values.push_back(create<arith::OrIOp>(a, b));
      return;
    default: {
      auto amount = builder.getI64IntegerAttr(below(6));
      Value by = isa<RankedTensorType>(type) ? create<arith::ConstantOp>(DenseElementsAttr::get(
                                                   cast<ShapedType>(type), Attribute(amount)))
                                             : create<arith::ConstantOp>(amount);
      values.push_back(below(2) ? create<arith::ShLIOp>(a, by) : create<arith::ShRSIOp>(a, by));
      return;
    }
    }
  }

  std::mt19937_64 &random;
  OpBuilder builder;
  Location loc;
  std::vector<Value> values;
};

} // namespace

OwningOpRef<ModuleOp> randomProgram(MLIRContext &context, std::mt19937_64 &random, int operations) {
  return Generator(context, random).module(operations);
}

Environment randomEnvironment(std::mt19937_64 &random) {
  auto below = [&](std::int64_t bound) { return std::int64_t(random() % std::uint64_t(bound)); };
  Environment environment;
  std::int64_t large = std::int64_t(1) << 40;
  environment.arguments = {16 * (below(2) ? below(1000) - 500 : below(large) - large / 2),
                           below(2) ? below(2000) : below(std::int64_t(1) << 31),
                           below(2) ? below(200) - 100 : below(large) - large / 2};
  environment.program = below(2) ? below(100) : below((std::int64_t(1) << 31) - 1);
  return environment;
}

} // namespace tessera::test
