//===- Lowering.cpp - the walk, the value map, the kernel's entry -------------===//
//
// Part of the Tessera project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for details. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lowering/nvptx/Lowering.h"

using namespace mlir;

namespace tessera::nvptx {

const Handlers &allHandlers() {
  static const Handlers handlers = [] {
    Handlers all;
    addArithHandlers(all);
    addAsyncCopyHandlers(all);
    addAtomicHandlers(all);
    addCastHandlers(all);
    addControlFlowHandlers(all);
    addConvertLayoutHandlers(all);
    addDebugHandlers(all);
    addFmaDotHandlers(all);
    addMBarrierHandlers(all);
    addMathHandlers(all);
    addMemoryHandlers(all);
    addMmaSyncHandlers(all);
    addProgramHandlers(all);
    addReduceHandlers(all);
    addShapeHandlers(all);
    addSharedMemoryHandlers(all);
    addTmaHandlers(all);
    addViewHandlers(all);
    addWgmmaHandlers(all);
    return all;
  }();
  return handlers;
}

static bool keepsElements(Operation *op) { return isa<tilegpu::ConvertLayoutOp>(op); }

FunctionLowering::FunctionLowering(func::FuncOp source, ModuleOp module)
    : builder(source.getContext()), loc(source.getLoc()), source(source), targetModule(module),
      axisAnalysis(source, keepsElements) {
  if (auto attribute = source->getAttrOfType<IntegerAttr>(tilegpu::attr::numWarps))
    warps = attribute.getInt();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type FunctionLowering::registerType(Type type) const {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  MLIRContext *context = type.getContext();
  if (isa<tile::PtrType>(type))
    return LLVM::LLVMPointerType::get(context, 1);
  if (isa<tilegpu::MemDescType, tilegpu::MBarrierType>(type))
    return LLVM::LLVMPointerType::get(context, 3);
  if (isa<IndexType>(type))
    return IntegerType::get(context, 64);
  // LLVM has no 8-bit floats: bits are moved as integers, arithmetic goes through conversions.
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(context, 8);
  return type;
}

unsigned FunctionLowering::registerCount(Type type) const {
  if (isa<RankedTensorType>(type))
    return tilegpu::layoutOf(type).inSize(tilegpu::dim::reg);
  if (auto view = dyn_cast<tile::ViewType>(type))
    return 1 + 2 * view.getRank();
  return isa<tilegpu::TokenType>(type) ? 0 : 1;
}

SmallVector<Type> FunctionLowering::registerTypes(Type type) const {
  if (auto view = dyn_cast<tile::ViewType>(type)) {
    SmallVector<Type> types(registerCount(type), IntegerType::get(type.getContext(), 64));
    types[0] = LLVM::LLVMPointerType::get(type.getContext(), 1);
    return types;
  }
  return SmallVector<Type>(registerCount(type), registerType(type));
}

//===----------------------------------------------------------------------===//
// The value map
//===----------------------------------------------------------------------===//

ArrayRef<Value> FunctionLowering::get(Value value) const {
  auto found = values.find(value);
  assert(found != values.end() && "operands are lowered before their users");
  return found->second;
}

Value FunctionLowering::scalar(Value value) const {
  ArrayRef<Value> registers = get(value);
  assert(registers.size() == 1 && "one value stands for it");
  return registers.front();
}

void FunctionLowering::set(Value value, ArrayRef<Value> registers) {
  assert(registers.size() == registerCount(value.getType()) && "one value a register");
  values[value] = registers.copy(storage);
}

ViewValues FunctionLowering::view(Value value) const {
  ArrayRef<Value> parts = get(value);
  std::size_t rank = (parts.size() - 1) / 2;
  return {parts.front(), SmallVector<Value>(parts.slice(1, rank)),
          SmallVector<Value>(parts.slice(1 + rank, rank))};
}

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

/// Slots of every parameter, as KernelImage documents; tensor maps are added behind as they are
/// asked for.
LogicalResult FunctionLowering::makeEntry() {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context, 1);
  Type i64Type = builder.getI64Type();
  Block *entry = target.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);

  auto addSlot = [&](Type type, ArrayRef<NamedAttribute> attributes = {}) {
    argumentAttributes.push_back(builder.getDictionaryAttr(attributes));
    return entry->addArgument(type, loc);
  };
  auto addPointer = [&](BlockArgument argument) {
    SmallVector<NamedAttribute> attributes;
    if (auto divisible =
            source.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), tile::attr::divisible))
      attributes.push_back(builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                                                builder.getI64IntegerAttr(divisible.getInt())));
    return addSlot(pointer, attributes);
  };
  for (BlockArgument argument : source.getArguments()) {
    Type type = argument.getType();
    if (isa<tile::PtrType>(type)) {
      set(argument, addPointer(argument));
    } else if (auto view = dyn_cast<tile::ViewType>(type)) {
      SmallVector<Value> parts{addPointer(argument)};
      // A static extent or stride still has its slot; its value is the type's.
      for (ArrayRef<int64_t> sizes : {view.getShape(), view.getStrides()})
        for (int64_t size : sizes) {
          Value slot = addSlot(i64Type);
          parts.push_back(ShapedType::isDynamic(size) ? slot : i64(size));
        }
      set(argument, parts);
    } else if (type.isInteger(1)) {
      Value byte = addSlot(builder.getI8Type());
      set(argument, Value(create<LLVM::TruncOp>(builder.getI1Type(), byte)));
    } else if (type.isIntOrIndexOrFloat()) {
      set(argument, addSlot(registerType(type)));
    } else {
      return source.emitError() << "expected scalars, pointers and views as kernel arguments, got "
                                << type;
    }
  }
  return success();
}

void FunctionLowering::finishSignature() {
  SmallVector<Type> types(target.front().getArgumentTypes());
  target.setFunctionType(
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types));
  SmallVector<Attribute> attributes(argumentAttributes.begin(), argumentAttributes.end());
  target.setArgAttrsAttr(builder.getArrayAttr(attributes));
  if (!tensorMaps.empty()) {
    SmallVector<Attribute> recipes;
    for (auto &[recipe, map] : tensorMaps)
      recipes.push_back(recipe);
    target->setAttr(tensorMapsAttr, builder.getArrayAttr(recipes));
  }
}

FailureOr<LLVM::LLVMFuncOp> FunctionLowering::run() {
  if (!source.getBody().hasOneBlock()) {
    source.emitError("expected structured control flow, got several blocks");
    return failure();
  }
  builder.setInsertionPoint(source);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {});
  target = builder.create<LLVM::LLVMFuncOp>(loc, (source.getName() + ".lowered").str(), type);
  target->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  target->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                  builder.getDenseI32ArrayAttr({static_cast<int32_t>(32 * warps)}));
  if (failed(makeEntry()) || failed(lowerBody(source.getBody().front())))
    return failure();
  create<LLVM::ReturnOp>(ValueRange());
  finishSignature();
  return target;
}

FailureOr<Value> FunctionLowering::tensorMap(Operation *op, Value view, ArrayRef<unsigned> order,
                                             ArrayRef<unsigned> box, unsigned swizzleBytes) {
  auto argument = dyn_cast<BlockArgument>(view);
  if (!argument || argument.getOwner()->getParentOp() != source) {
    op->emitError("expected a view that is a kernel argument");
    return failure();
  }
  auto numbers = [&](ArrayRef<unsigned> list) {
    return builder.getDenseI32ArrayAttr(SmallVector<int32_t>(list.begin(), list.end()));
  };
  Attribute recipe = builder.getDictionaryAttr(
      {builder.getNamedAttr("box", numbers(box)), builder.getNamedAttr("order", numbers(order)),
       builder.getNamedAttr("param", builder.getI32IntegerAttr(argument.getArgNumber())),
       builder.getNamedAttr("swizzle", builder.getI32IntegerAttr(swizzleBytes))});
  for (auto &[known, map] : tensorMaps)
    if (known == recipe)
      return map;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  argumentAttributes.push_back(builder.getDictionaryAttr(
      {builder.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes)),
       builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64)),
       builder.getNamedAttr(NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr())}));
  Value map = target.front().addArgument(LLVM::LLVMPointerType::get(builder.getContext()), loc);
  tensorMaps.emplace_back(recipe, map);
  return map;
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lower(Operation *op) {
  const Handlers::Handler *handler = allHandlers().find(op);
  if (!handler)
    return op->emitError("expected an operation that the NVPTX lowering knows");
  for (Value value : op->getResults())
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType());
        tensor && !isa_and_nonnull<tilegpu::LayoutAttr>(tensor.getEncoding()))
      return op->emitError() << "expected every tile to have a layout, got " << tensor;
  loc = op->getLoc();
  return (*handler)(*this, op);
}

LogicalResult FunctionLowering::lowerBody(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(&op)))
      return failure();
  return success();
}

Block *FunctionLowering::newBlock(TypeRange arguments) {
  SmallVector<Location> locations(arguments.size(), loc);
  OpBuilder::InsertionGuard guard(builder);
  return builder.createBlock(&target.getBody(), target.getBody().end(), arguments, locations);
}

void FunctionLowering::branch(Block *block, ValueRange arguments) {
  create<LLVM::BrOp>(arguments, block);
}

void FunctionLowering::branchIf(Value condition, Block *ifTrue, ValueRange trueArguments,
                                Block *ifFalse, ValueRange falseArguments) {
  create<LLVM::CondBrOp>(condition, ifTrue, trueArguments, ifFalse, falseArguments);
}

void FunctionLowering::when(Value condition, function_ref<void()> body) {
  Block *inside = newBlock(), *behind = newBlock();
  branchIf(condition, inside, {}, behind, {});
  builder.setInsertionPointToStart(inside);
  body();
  branch(behind);
  builder.setInsertionPointToStart(behind);
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value FunctionLowering::constant(Type type, int64_t value) {
  return create<LLVM::ConstantOp>(type, builder.getIntegerAttr(type, value));
}
Value FunctionLowering::i1(bool value) { return constant(builder.getI1Type(), value); }
Value FunctionLowering::i32(int64_t value) { return constant(builder.getI32Type(), value); }
Value FunctionLowering::i64(int64_t value) { return constant(builder.getI64Type(), value); }
Value FunctionLowering::constantFloat(Type type, double value) {
  return create<LLVM::ConstantOp>(type, builder.getFloatAttr(type, value));
}
Value FunctionLowering::zero(Type type) { return create<LLVM::ZeroOp>(type); }

Value FunctionLowering::add(Value a, Value b, bool nsw) {
  return create<LLVM::AddOp>(
      a, b, nsw ? LLVM::IntegerOverflowFlags::nsw : LLVM::IntegerOverflowFlags::none);
}
Value FunctionLowering::andMask(Value a, int64_t mask) {
  return create<LLVM::AndOp>(a, constant(a.getType(), mask));
}
Value FunctionLowering::isZero(Value a) {
  return create<LLVM::ICmpOp>(LLVM::ICmpPredicate::eq, a, zero(a.getType()));
}

Value FunctionLowering::intrinsic(StringRef name, Type result, ValueRange arguments) {
  return create<LLVM::CallIntrinsicOp>(result, builder.getStringAttr(name), arguments).getResults();
}

Value FunctionLowering::elementPtr(Value base, Type element, Value index) {
  return create<LLVM::GEPOp>(base.getType(), element, base, ArrayRef<LLVM::GEPArg>{index});
}
Value FunctionLowering::bytePtr(Value base, Value bytes) {
  return elementPtr(base, builder.getI8Type(), bytes);
}

//===----------------------------------------------------------------------===//
// Module-level things
//===----------------------------------------------------------------------===//

StringRef FunctionLowering::targetName() const {
  auto name = source->getParentOfType<ModuleOp>()->getAttrOfType<StringAttr>(tilegpu::attr::target);
  return name ? name.getValue() : StringRef("sm_80");
}

unsigned FunctionLowering::computeCapability() const {
  unsigned capability = 0;
  targetName().drop_front(3).consumeInteger(10, capability);
  return capability;
}

Value FunctionLowering::sharedMemory() {
  if (shared)
    return shared;
  StringRef name = "tessera_shared";
  OpBuilder::InsertionGuard guard(builder);
  if (!targetModule.lookupSymbol(name)) {
    builder.setInsertionPointToStart(targetModule.getBody());
    // 1024 bytes is what the widest swizzle's pattern is aligned to.
    builder.create<LLVM::GlobalOp>(loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                                   /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
                                   /*alignment=*/1024, /*addrSpace=*/3);
  }
  builder.setInsertionPointToStart(&target.front());
  return shared =
             create<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(builder.getContext(), 3), name);
}

Value FunctionLowering::string(StringRef text) {
  LLVM::GlobalOp &global = strings[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(targetModule.getBody());
    std::string name = (source.getName() + "_text_" + Twine(strings.size())).str();
    std::string bytes = (text + Twine('\0')).str();
    global = builder.create<LLVM::GlobalOp>(
        loc, LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()), /*isConstant=*/true,
        LLVM::Linkage::Internal, name, builder.getStringAttr(bytes));
  }
  return create<LLVM::AddressOfOp>(global);
}

LLVM::LLVMFuncOp FunctionLowering::declare(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = targetModule.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(targetModule.getBody());
  return builder.create<LLVM::LLVMFuncOp>(loc, name,
                                          LLVM::LLVMFunctionType::get(result, arguments));
}

} // namespace tessera::nvptx
