// SPDX-License-Identifier: Apache-2.0
#include "attack/generate.h"

#include <algorithm>
#include <protozero/pbf_writer.hpp>

#include "attack/wrap.h"
#include "graph/composite.h"
#include "graph/signature.h"

namespace attack {

namespace {

using max::DTypeSet;
using max::OpSchema;
using max::TypeSlot;

// What operators took as attributes before they took it as inputs, or until it was dropped.
constexpr std::string_view kOldAttributes =
    "axes=I starts=I ends=I pads=I value=f split=I k=i ratio=f is_test=i scales=F min=f max=f broadcast=i axis=i "
    "consumed_inputs=I spatial=i to=s shape=I repeats=I dtype=i perm=I";

using KnownAttribute = max::AttributeRule;

int64_t numberOf(char letter) {
  constexpr std::string_view kLetters = "fistg";
  constexpr int64_t kNumbers[] = {1, 2, 3, 4, 5};
  const size_t at = kLetters.find(letter);
  if (at != kLetters.npos) return kNumbers[at];
  return letter == 'F' ? 6 : letter == 'I' ? 7 : letter == 'S' ? 8 : 2;
}

const std::vector<KnownAttribute>& oldAttributes() {
  static const std::vector<KnownAttribute> all = max::AttributeRules(kOldAttributes).all();
  return all;
}

const std::vector<KnownAttribute>& allAttributes() {
  static const std::vector<KnownAttribute> all = [] {
    std::vector<KnownAttribute> found = oldAttributes();
    for (const OpSchema* schema : operators())
      for (const KnownAttribute& attribute : schema->attributeRules()->all()) found.push_back(attribute);
    return found;
  }();
  return all;
}

// A value that nodes may use.
struct Known {
  std::string name;
  int64_t type;  // 0 = not known
  bool isTensor = true;
};

class Generator {
 public:
  explicit Generator(Chance& chance) : chance_(chance) {
    base_ = chance_.shape(chance_.below(6));
    model_.opsets = randomOpsets(chance_);
  }

  ModelData run() {
    const size_t count = 1 + chance_.below(chance_.happens(80) ? 3 : 9);
    for (size_t i = 0; i < count; ++i) addNode(*chance_.of(operators()));
    addOutputs();
    return std::move(model_);
  }

 private:
  std::string fresh(const char* stem) { return stem + std::to_string(number_++); }

  int64_t typeIn(DTypeSet set) {
    const DTypeSet favourite = max::setOf(max::DType::Float32);
    if ((set & favourite) && chance_.happens(50)) return 1;
    std::vector<int64_t> types;
    for (int64_t type = 1; type <= 28; ++type)
      if (const auto dtype = max::dtypeFromOnnx(type); dtype && (set & max::setOf(*dtype))) types.push_back(type);
    return types.empty() ? 1 : chance_.of(types);
  }

  std::vector<int64_t> shape() {
    if (chance_.happens(15)) return chance_.shape(chance_.below(7));
    std::vector<int64_t> dims = base_;
    if (chance_.happens(25))
      for (int64_t& dim : dims)
        if (chance_.happens(40)) dim = 1;
    if (chance_.happens(25) && !dims.empty())
      dims.erase(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(chance_.below(dims.size() + 1)));
    return dims;
  }

  TensorData tensor(int64_t type) {
    TensorData tensor{fresh("t"), type, shape(), {}, {}};
    // Lists of sizes, axes, indices.
    if ((type == 7 || type == 6) && chance_.happens(65))
      tensor.dims = chance_.happens(25) ? std::vector<int64_t>{} : std::vector<int64_t>{chance_.within(0, 6)};
    if (type == 7 && chance_.happens(15)) {
      TensorData list = listTensor(tensor.name, base_);
      return list;
    }
    fill(tensor, chance_);
    return tensor;
  }

  // An initialiser, an input, or what is made of one while the model runs.
  std::string newValue(int64_t type) {
    TensorData made = tensor(type);
    std::string name = made.name;
    if (chance_.happens(45)) {
      model_.graph.initializers.push_back(std::move(made));
    } else {
      addInput(model_, std::move(made), chance_);
    }
    known_.push_back({name, type});
    return chance_.happens(30) ? computed(model_.graph, name, chance_) : name;
  }

  std::string newHolder(DTypeSet set) {
    const char kind = set & max::setOf(max::DType::Sequence) ? 's' : set & max::setOf(max::DType::Map) ? 'm' : 'o';
    ValueData value;
    value.name = fresh("h");
    value.other = holderType(kind, chance_.type());
    known_.push_back({value.name, 0, false});
    model_.graph.inputs.push_back(value);
    return value.name;
  }

  std::string input(const TypeSlot& slot, std::vector<int64_t>& bound) {
    constexpr DTypeSet kNone = 0;
    const DTypeSet objects =
        max::setOf(max::DType::Sequence) | max::setOf(max::DType::Map) | max::setOf(max::DType::Optional);
    const bool wantsObject = (slot.allowed & ~objects) == kNone;
    int64_t type = typeIn(slot.allowed);
    if (slot.variable >= 0) {
      int64_t& chosen = bound[static_cast<size_t>(slot.variable)];
      if (chosen == 0) chosen = type;
      type = chosen;
    }
    if (chance_.happens(3)) type = chance_.type();
    if (chance_.happens(40)) {
      std::vector<const Known*> fitting;
      for (const Known& known : known_)
        if (known.isTensor != wantsObject && (known.type == type || known.type == 0 || chance_.happens(3)))
          fitting.push_back(&known);
      if (!fitting.empty()) return chance_.of(fitting)->name;
    }
    if (wantsObject || ((slot.allowed & objects) && chance_.happens(25))) return newHolder(slot.allowed);
    return newValue(type);
  }

  void addInputs(NodeData& node, const OpSchema& schema) {
    const max::TypeSignature& signature = *schema.signature();
    std::vector<int64_t> bound(32, 0);
    size_t count = static_cast<size_t>(chance_.within(schema.minInputs, std::max(schema.minInputs, schema.maxInputs)));
    if (schema.has(max::kTraitVariadic)) count = static_cast<size_t>(schema.minInputs) + chance_.below(4);
    for (size_t i = 0; i < count; ++i) {
      const TypeSlot* slot = signature.input(i);
      const bool isOptional = i >= static_cast<size_t>(schema.minInputs);
      if (!slot || (isOptional && chance_.happens(25)))
        node.inputs.emplace_back();
      else
        node.inputs.push_back(input(*slot, bound));
    }
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    const TypeSlot* first = signature.output(0);
    outputType_ = first && first->variable >= 0 ? bound[static_cast<size_t>(first->variable)]
                  : first && first->allowed     ? typeIn(first->allowed)
                                                : 0;
  }

  void addAttributes(NodeData& node, const OpSchema& schema) {
    const std::vector<KnownAttribute> all = schema.attributes == "*" ? allAttributes() : schema.attributeRules()->all();
    for (const KnownAttribute& each : all) {
      if (schema.attributes == "*" ? !chance_.happens(2) : !chance_.happens(each.type == 'g' ? 97 : 45)) continue;
      if (each.type == 'g')
        node.attributes.push_back(bodyFor(std::string(each.name), node, chance_));
      else
        node.attributes.push_back(attributeOf(each));
    }
    if (chance_.happens(12)) {
      const KnownAttribute& old = oldAttributes()[chance_.below(oldAttributes().size())];
      node.attributes.push_back(randomAttribute(std::string(old.name), numberOf(old.type), chance_));
    }
    if (chance_.happens(3)) node.attributes.push_back(anyAttribute(chance_));
  }

  // Mostly with a type and a value that there are: other nodes do not get far.
  AttributeData attributeOf(const KnownAttribute& known) {
    const int64_t type = chance_.happens(3) ? chance_.within(1, 8) : numberOf(known.type);
    AttributeData attribute = randomAttribute(std::string(known.name), type, chance_);
    if (chance_.happens(8)) return attribute;
    attribute.i = std::clamp(attribute.i, known.least, known.most);
    for (int64_t& entry : attribute.ints) entry = std::clamp(entry, known.least, known.most);
    if (known.words.empty()) return attribute;
    attribute.s = known.words[chance_.below(known.words.size())];
    for (std::string& word : attribute.strings) word = known.words[chance_.below(known.words.size())];
    return attribute;
  }

  void addNode(const OpSchema& schema) {
    NodeData node;
    node.op = schema.name;
    node.domain = schema.domain;
    node.name = fresh("n");
    addInputs(node, schema);
    const int most = schema.maxOutputs > 0 ? schema.maxOutputs : 4;
    const int64_t count =
        chance_.happens(60) ? std::max(schema.minOutputs, 1) : chance_.within(schema.minOutputs, most);
    for (int64_t i = 0; i < count; ++i) {
      node.outputs.push_back(fresh("v"));
      known_.push_back({node.outputs.back(), i == 0 ? outputType_ : 0});
      made_.push_back(node.outputs.back());
    }
    addAttributes(node, schema);
    model_.graph.nodes.push_back(std::move(node));
  }

  // All that nodes make, so that nothing is dropped as unused; types are left out.
  void addOutputs() {
    for (const std::string& name : made_) {
      ValueData output;
      output.name = name;
      if (chance_.happens(90)) model_.graph.outputs.push_back(output);
    }
  }

  Chance& chance_;
  ModelData model_;
  std::vector<int64_t> base_;  // the shape that most values share
  std::vector<Known> known_;
  std::vector<std::string> made_;
  int64_t outputType_ = 0;
  int number_ = 0;
};

}  // namespace

const std::vector<const OpSchema*>& operators() {
  static const std::vector<const OpSchema*> all = [] {
    std::vector<const OpSchema*> found = max::allSchemas();
    for (const max::Composite* composite : max::allComposites()) found.push_back(&composite->schema);
    std::sort(found.begin(), found.end(), [](const OpSchema* a, const OpSchema* b) {
      return a->domain != b->domain ? a->domain < b->domain : a->name < b->name;
    });
    return found;
  }();
  return all;
}

const OpSchema* operatorNamed(std::string_view domain, std::string_view op) {
  if (domain == "ai.onnx") domain = "";
  for (const OpSchema* schema : operators())
    if (schema->domain == domain && schema->name == op) return schema;
  return nullptr;
}

Opsets randomOpsets(Chance& chance) {
  const int64_t version = chance.happens(60) ? chance.within(13, 23) : chance.within(1, 29);
  Opsets opsets{
      {"", version}, {"ai.onnx.ml", chance.within(1, 5)}, {"com.microsoft", 1}, {"ai.onnx.preview.training", 1}};
  if (chance.happens(3)) opsets.emplace_back("max", 1);
  return opsets;
}

AttributeData randomAttribute(std::string name, int64_t type, Chance& chance) {
  AttributeData attribute;
  attribute.name = std::move(name);
  attribute.type = type;
  attribute.i = chance.integer();
  if ((attribute.name == "to" || attribute.name == "dtype") && chance.happens(80)) attribute.i = chance.type();
  attribute.f = chance.number();
  attribute.s = chance.text();
  attribute.ints = chance.integers();
  attribute.floats.resize(chance.below(7));
  for (float& value : attribute.floats) value = chance.number();
  attribute.strings.resize(chance.below(5));
  for (std::string& text : attribute.strings) text = chance.text();
  if (type == 4) {
    attribute.t = {"t", chance.type(), chance.shape(chance.below(4)), {}, {}};
    fill(attribute.t, chance);
  }
  return attribute;
}

AttributeData anyAttribute(Chance& chance) {
  const KnownAttribute& any = allAttributes()[chance.below(allAttributes().size())];
  const int64_t type = numberOf(any.type);
  return randomAttribute(std::string(any.name), type == 5 ? 2 : type, chance);
}

std::string holderType(char kind, int64_t type) {
  using Writer = protozero::pbf_writer;
  std::string element, tensor, holder, bytes;
  Writer(element).add_int64(1, type);
  Writer(tensor).add_message(1, element);
  if (kind == 'm') Writer(holder).add_int64(1, type == 8 ? 8 : 7);
  Writer(holder).add_message(kind == 'm' ? 2 : 1, tensor);
  Writer(bytes).add_message(kind == 's' ? 4 : kind == 'm' ? 5 : 9, holder);
  return bytes;
}

ModelData randomModel(Chance& chance) { return Generator(chance).run(); }

}  // namespace attack
