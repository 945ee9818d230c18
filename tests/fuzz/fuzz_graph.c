/* SPDX-License-Identifier: Apache-2.0 */
/* A program of bytes that builds graphs through the C API, compiles and runs them. Each step is an opcode and its
 * operands, one byte each; values are named by their number, operators and attributes by tables. */
#include "fuzz.h"

#define MOST_VALUES 64
#define MOST_GRAPHS 6
#define MOST_STEPS 200

static const char* const kOperators[] = {
#include "graph_operators.inc"
};
static const char* const kAttributes[] = {
#include "graph_attributes.inc"
};
static const char* const kTexts[] = {"",       "n",       "same",      "SAME_UPPER", "constant",
                                     "linear", "forward", "ab,bc->ac", "LEFT"};
static const MaxDType kTypes[] = {MAX_DTYPE_FLOAT32, MAX_DTYPE_INT64, MAX_DTYPE_BOOL,   MAX_DTYPE_INT32,
                                  MAX_DTYPE_FLOAT16, MAX_DTYPE_UINT8, MAX_DTYPE_STRING, MAX_DTYPE_INT4};
static const int64_t kWild[] = {0, -1, 7, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN, 64};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define PICK(program, table) (table)[next(program) % COUNT_OF(table)]

static MaxSession* session;

typedef struct Program {
  const uint8_t* data;
  size_t size;
  MaxGraph* graphs[MOST_GRAPHS];
  size_t graphCount;
  MaxGraphValue* values[MOST_VALUES];
  size_t valueCount;
  MaxAttributes* attributes;
} Program;

static uint8_t next(Program* program) {
  if (program->size == 0) return 0;
  --program->size;
  return *program->data++;
}

/* Mostly small, sometimes wild. */
static int64_t nextNumber(Program* program) {
  const uint8_t byte = next(program);
  return byte < 240 ? (int64_t)byte % 11 - 2 : kWild[byte % COUNT_OF(kWild)];
}

static MaxGraph* nextGraph(Program* program) { return program->graphs[next(program) % program->graphCount]; }

static MaxGraphValue* nextValue(Program* program) {
  const uint8_t byte = next(program);
  return byte == 255 || program->valueCount == 0 ? NULL : program->values[byte % program->valueCount];
}

static void keep(Program* program, MaxStatus status, MaxGraphValue* value) {
  check((status == MAX_STATUS_OK) == (value != NULL));
  if (!value) return checkFailure(status);
  if (program->valueCount < MOST_VALUES) program->values[program->valueCount++] = value;
}

static void addInput(Program* program) {
  static const char* const kNames[] = {"a", "b", "c", "d", "", NULL};
  MaxGraph* graph = nextGraph(program);
  const char* name = PICK(program, kNames);
  const MaxDType dtype = PICK(program, kTypes);
  const int32_t rank = next(program) % 6 - 1;
  int64_t shape[8];
  const char* names[8];
  for (int32_t i = 0; i < rank; ++i) {
    shape[i] = nextNumber(program);
    names[i] = shape[i] == -1 ? PICK(program, kTexts) : NULL;
  }
  MaxGraphInputOptions options = MAX_GRAPH_INPUT_OPTIONS_INIT;
  options.dimensionNames = names;
  MaxGraphValue* value = NULL;
  keep(program, maxGraphAddInput(graph, name, dtype, rank, shape, &options, &value), value);
}

/* A tensor of at most 64 elements; wild sizes are refused by the library. */
static MaxBuffer* makeTensor(Program* program) {
  const MaxDType dtype = PICK(program, kTypes);
  const int32_t rank = next(program) % 4;
  int64_t shape[4], count = 1;
  for (int32_t i = 0; i < rank; ++i) count *= shape[i] = next(program) % 5;
  MaxDevice* device = NULL;
  MaxBuffer* buffer = NULL;
  void* contents = NULL;
  MaxBufferOptions options = MAX_BUFFER_OPTIONS_INIT;
  options.zeroed = 1;
  check(maxSessionGetDevice(session, 0, &device) == MAX_STATUS_OK);
  if (dtype == MAX_DTYPE_STRING) return makeStrings(device, rank, shape, count);
  check(maxBufferCreate(device, dtype, rank, shape, &options, &buffer) == MAX_STATUS_OK);
  check(maxBufferGetMutableData(buffer, &contents) == MAX_STATUS_OK);
  for (int64_t i = 0; i < count && dtype == MAX_DTYPE_INT64; ++i) ((int64_t*)contents)[i] = nextNumber(program);
  for (int64_t i = 0; i < count && dtype != MAX_DTYPE_INT64; ++i) fillElement(contents, dtype, i);
  return buffer;
}

static void addConstant(Program* program) {
  MaxGraph* graph = nextGraph(program);
  MaxBuffer* buffer = makeTensor(program);
  MaxGraphValue* value = NULL;
  keep(program, maxGraphAddConstant(graph, NULL, buffer, &value), value);
  maxBufferRelease(buffer);
}

static void addNode(Program* program) {
  MaxGraph* graph = nextGraph(program);
  const char* op = PICK(program, kOperators);
  MaxGraphValue *inputs[8], *outputs[4];
  const int32_t inputCount = next(program) % 8, outputCount = next(program) % 4;
  for (int32_t i = 0; i < inputCount; ++i) inputs[i] = nextValue(program);
  const char* domain = next(program) < 8 ? "com.microsoft" : NULL;
  const MaxStatus status =
      maxGraphAddNode(graph, domain, op, "n", inputs, inputCount, program->attributes, outputs, outputCount);
  if (status != MAX_STATUS_OK) checkFailure(status);
  for (int32_t i = 0; i < outputCount; ++i) keep(program, status, outputs[i]);
  maxAttributesRelease(program->attributes);
  check(maxAttributesCreate(&program->attributes) == MAX_STATUS_OK);
}

static MaxStatus setAttribute(Program* program, const char* name) {
  MaxAttributes* attributes = program->attributes;
  int64_t numbers[8];
  switch (next(program) % 7) {
    case 0:
      return maxAttributesSetInt(attributes, name, nextNumber(program));
    case 1:
      return maxAttributesSetFloat(attributes, name, (float)nextNumber(program) * 0.5f);
    case 2:
      return maxAttributesSetString(attributes, name, PICK(program, kTexts));
    case 3:
      return maxAttributesSetDType(attributes, name, PICK(program, kTypes));
    case 4:
      return maxAttributesSetGraph(attributes, name, nextGraph(program));
    case 5: {
      MaxBuffer* buffer = makeTensor(program);
      const MaxStatus status = maxAttributesSetTensor(attributes, name, buffer);
      maxBufferRelease(buffer);
      return status;
    }
    default: {
      const int32_t count = next(program) % 8;
      for (int32_t i = 0; i < count; ++i) numbers[i] = nextNumber(program);
      return maxAttributesSetInts(attributes, name, numbers, count);
    }
  }
}

static void addSubgraph(Program* program) {
  if (program->graphCount == MOST_GRAPHS) return;
  MaxGraph* graph = NULL;
  const MaxStatus status = maxGraphCreateSubgraph(nextGraph(program), "inner", &graph);
  if (status != MAX_STATUS_OK) return checkFailure(status);
  program->graphs[program->graphCount++] = graph;
}

static void addOutput(Program* program) {
  MaxGraph* graph = nextGraph(program);
  const MaxStatus status =
      maxGraphAddOutput(graph, nextValue(program), next(program) % 4 ? NULL : PICK(program, kTexts));
  if (status != MAX_STATUS_OK) checkFailure(status);
}

static void compileAndRun(Program* program) {
  MaxModel* model = NULL;
  const MaxStatus status = maxModelCompile(session, nextGraph(program), NULL, &model);
  finishModel(status, model, SIZE_MAX);
}

static void step(Program* program) {
  MaxStatus status = MAX_STATUS_OK;
  switch (next(program) % 9) {
    case 0:
      return addInput(program);
    case 1:
      return addConstant(program);
    case 2:
      status = setAttribute(program, PICK(program, kAttributes));
      if (status != MAX_STATUS_OK) checkFailure(status);
      return;
    case 3:
      return addSubgraph(program);
    case 4:
      return addOutput(program);
    case 5:
      return compileAndRun(program);
    default:
      return addNode(program);
  }
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  session = openSession();
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t before = liveObjects();
  Program program = {data, size, {NULL}, 0, {NULL}, 0, NULL};
  check(maxGraphCreate("fuzz", &program.graphs[0]) == MAX_STATUS_OK);
  program.graphCount = 1;
  check(maxAttributesCreate(&program.attributes) == MAX_STATUS_OK);
  for (int i = 0; i < MOST_STEPS && program.size > 0; ++i) step(&program);
  compileAndRun(&program); /* the main graph, since no bytes are left, or any */
  maxAttributesRelease(program.attributes);
  for (size_t i = 0; i < program.graphCount; ++i) maxGraphRelease(program.graphs[i]);
  check(liveObjects() == before);
  return 0;
}
