/* SPDX-License-Identifier: Apache-2.0 */
/* Operators for the tests of extensions: correct ones, and others with a fault selected by an attribute.
 */
#ifndef MAX_TESTS_CAPI_EXTENSION_OPERATORS_H
#define MAX_TESTS_CAPI_EXTENSION_OPERATORS_H

#include <stdatomic.h>

#include "check.h"

/* What the operators of these tests have been asked to do. */
static atomic_int executions, states;

static MaxStatus infer_like(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  (void)user_data;
  (void)node;
  return maxShapeContextSetOutputLike(context, 0, 0);
}

static MaxStatus copy(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  (void)user_data;
  (void)node;
  (void)state;
  ++executions;
  memcpy(call->outputs[0], call->inputs[0], (size_t)call->inputElementCounts[0] * sizeof(float));
  return MAX_STATUS_OK;
}

/* Sum of a, optional b, and what was prepared of constant inputs and attributes; output 1 counts the inputs. */
static MaxStatus infer_sum(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  int32_t inputs = 0, rank = 0;
  MaxDType dtype = MAX_DTYPE_BOOL;
  (void)user_data;
  if (maxOperatorNodeGetInputCount(node, &inputs) || maxShapeContextGetInputDType(context, 0, &dtype) ||
      maxShapeContextGetInputRank(context, 0, &rank) || maxShapeContextSetOutputDType(context, 0, dtype) ||
      maxShapeContextSetOutputDType(context, 1, MAX_DTYPE_INT64) ||
      maxShapeContextSetOutputShape(context, 1, 0, NULL) || maxShapeContextSetScratchSize(context, 4096))
    return MAX_STATUS_INTERNAL;
  if (inputs < 2) return maxShapeContextSetOutputLike(context, 0, 0);
  int32_t other = 0;
  const MaxStatus status = maxShapeContextGetInputRank(context, 1, &other);
  if (status != MAX_STATUS_OK) return status;
  if (other == MAX_RANK_DYNAMIC) return maxShapeContextSetOutputLike(context, 0, 0);
  return maxShapeContextSetOutputBroadcast(context, 0, 0, 1);
}

struct sum_state {
  float constants, numbers;
};

static MaxStatus prepare_sum(void* user_data, const MaxOperatorNode* node, void** out_state) {
  struct sum_state* state = calloc(1, sizeof *state);
  int32_t inputs = 0, count = 0, rank = 0;
  const float* numbers = NULL;
  *out_state = state;
  ++states;
  if (user_data) return maxExtensionFail(MAX_STATUS_RESOURCE_EXHAUSTED, "no table of this size");
  MaxStatus status = maxOperatorNodeGetInputCount(node, &inputs);
  if (!status) status = maxOperatorNodeGetFloats(node, "numbers", &numbers, &count);
  for (int32_t i = 0; i < count; ++i) state->numbers += numbers[i];
  for (int32_t i = 0; !status && i < inputs; ++i) {
    MaxDType dtype = MAX_DTYPE_INVALID;
    const int64_t* shape = NULL;
    const void* data = NULL;
    status = maxOperatorNodeGetConstant(node, i, &dtype, &rank, &shape, &data);
    if (data && dtype == MAX_DTYPE_FLOAT32) state->constants += *(const float*)data;
  }
  return status;
}

static void destroy_sum(void* user_data, void* state) {
  (void)user_data;
  --states;
  free(state);
}

struct sum_job {
  const MaxOperatorCall* call;
  float extra;
};

static void add_part(void* user_data, int64_t begin, int64_t end, int32_t lane) {
  const struct sum_job* job = user_data;
  const MaxOperatorCall* call = job->call;
  const float *a = call->inputs[0], *b = call->inputCount > 1 ? call->inputs[1] : NULL;
  float* y = call->outputs[0];
  ((char*)call->scratch)[lane] = 1;
  for (int64_t i = begin; i < end; ++i) y[i] = a[i] + (b ? b[call->inputElementCounts[1] > 1 ? i : 0] : 0) + job->extra;
}

static MaxStatus sum(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  const struct sum_state* prepared = state;
  struct sum_job job = {call, prepared->numbers + prepared->constants};
  (void)user_data;
  (void)node;
  if (call->scratchSize != 4096 || (uintptr_t)call->scratch % 64 != 0 || call->lanes < 1)
    return maxExtensionFail(MAX_STATUS_INTERNAL, "the call is not as it was asked for");
  if (call->outputCount > 1 && call->outputs[1]) *(int64_t*)call->outputs[1] = call->inputCount;
  if (!call->outputs[0]) return MAX_STATUS_OK;
  return maxOperatorCallParallelFor(call, call->outputElementCounts[0], 64, add_part, &job);
}

/* Fails where its attribute says. */
static MaxStatus fail_at(const MaxOperatorNode* node, const char* place) {
  const char* chosen = NULL;
  int64_t number = 0;
  MaxStatus status = maxOperatorNodeGetString(node, "at", "nowhere", &chosen);
  if (!status) status = maxOperatorNodeGetInt(node, "status", MAX_STATUS_OUT_OF_RANGE, &number);
  if (status || strcmp(chosen, place) != 0) return status;
  if (number > MAX_STATUS_DATA_LOSS) return (MaxStatus)number;
  return maxExtensionFail((MaxStatus)number, "the moon is full");
}

static MaxStatus infer_failing(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  const MaxStatus status = fail_at(node, "infer");
  return status ? status : infer_like(user_data, node, context);
}

static MaxStatus execute_failing(void* user_data, const MaxOperatorNode* node, void* state,
                                 const MaxOperatorCall* call) {
  const MaxStatus status = fail_at(node, "execute");
  return status ? status : copy(user_data, node, state, call);
}

/* Says what its attribute tells, right or wrong. */
static MaxStatus infer_odd(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  static const int64_t negative[] = {-2}, open_end[] = {3, MAX_DIMENSION_DYNAMIC};
  const char* what = NULL;
  (void)user_data;
  MaxStatus status = maxOperatorNodeGetString(node, "what", "", &what);
  if (status) return status;
  if (!strcmp(what, "type")) return maxShapeContextSetOutputDType(context, 0, MAX_DTYPE_STRING);
  if (!strcmp(what, "number")) return maxShapeContextSetOutputDType(context, 0, 4711);
  if (!strcmp(what, "no type")) return maxShapeContextSetOutputLike(context, 0, 0);
  status = maxShapeContextSetOutputDType(context, 0, MAX_DTYPE_FLOAT32);
  if (status) return status;
  if (!strcmp(what, "negative")) return maxShapeContextSetOutputShape(context, 0, 1, negative);
  if (!strcmp(what, "rank")) return maxShapeContextSetOutputShape(context, 0, 17, negative);
  if (!strcmp(what, "no shape")) return maxShapeContextSetOutputShape(context, 0, 1, NULL);
  if (!strcmp(what, "output")) return maxShapeContextSetOutputLike(context, 1, 0);
  if (!strcmp(what, "input")) return maxShapeContextSetOutputLike(context, 0, 1);
  if (!strcmp(what, "axis")) return maxShapeContextSetOutputDimension(context, 0, 0, 0, 1);
  if (!strcmp(what, "scratch")) return maxShapeContextSetScratchSize(context, SIZE_MAX);
  if (!strcmp(what, "open")) return maxShapeContextSetOutputShape(context, 0, 2, open_end);
  return MAX_STATUS_OK;
}

/* y[rows, last]: the first dimension from the contents of input 1, the second that of input 0. */
static MaxStatus infer_rows(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  int64_t shape[] = {MAX_DIMENSION_DYNAMIC, MAX_DIMENSION_DYNAMIC};
  const void* rows = NULL;
  (void)user_data;
  (void)node;
  MaxStatus status = maxShapeContextGetInputData(context, 1, &rows);
  if (rows) shape[0] = *(const int64_t*)rows;
  if (!status) status = maxShapeContextSetOutputShape(context, 0, 2, shape);
  return status ? status : maxShapeContextSetOutputDimension(context, 0, 1, 0, 0);
}

static MaxStatus rows(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  const int64_t width = call->inputShapes[0][0];
  (void)user_data;
  (void)node;
  (void)state;
  for (int64_t i = 0; i < call->outputShapes[0][0]; ++i)
    memcpy((float*)call->outputs[0] + i * width, call->inputs[0], (size_t)width * sizeof(float));
  return MAX_STATUS_OK;
}

/* Makes its output as its attribute says. */
static MaxStatus infer_late(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  static const int64_t shape[] = {MAX_DIMENSION_DYNAMIC, 2};
  int32_t outputs = 0;
  (void)user_data;
  if (maxOperatorNodeGetOutputCount(node, &outputs)) return MAX_STATUS_INTERNAL;
  if (outputs > 1 && maxShapeContextSetOutputShape(context, 1, 1, shape)) return MAX_STATUS_INTERNAL;
  return maxShapeContextSetOutputShape(context, 0, 2, shape);
}

static MaxStatus make_late(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  static const int64_t two[] = {2, 2}, wrong[] = {2, 3}, negative[] = {-1, 2};
  const char* what = NULL;
  void* data = NULL;
  (void)user_data;
  (void)state;
  const MaxStatus status = maxOperatorNodeGetString(node, "what", "right", &what);
  if (status) return status;
  if (!strcmp(what, "nothing")) return MAX_STATUS_OK;
  if (!strcmp(what, "wrong")) return maxOperatorCallAllocateOutput(call, 0, 2, wrong, &data);
  if (!strcmp(what, "negative")) return maxOperatorCallAllocateOutput(call, 0, 2, negative, &data);
  if (!strcmp(what, "index")) return maxOperatorCallAllocateOutput(call, 2, 2, two, &data);
  if (call->outputRanks[0] != MAX_RANK_DYNAMIC) return MAX_STATUS_INTERNAL;
  if (maxOperatorCallAllocateOutput(call, 0, 2, two, &data)) return MAX_STATUS_INTERNAL;
  for (int i = 0; i < 4; ++i) ((float*)data)[i] = (float)i;
  if (call->outputRanks[0] != 2 || call->outputs[0] != data || call->outputElementCounts[0] != 4)
    return MAX_STATUS_INTERNAL;
  const int64_t count = 5;
  if (maxOperatorCallAllocateOutput(call, 1, 1, &count, &data)) return MAX_STATUS_INTERNAL;
  if (data) memset(data, 1, (size_t)count);
  if (!strcmp(what, "twice")) return maxOperatorCallAllocateOutput(call, 0, 2, two, &data);
  return MAX_STATUS_OK;
}

/* Each kind of attribute, read in all ways; what it finds is the output. */
static MaxStatus infer_attributes(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  const int64_t* ints = NULL;
  int32_t count = 0, has = 0;
  (void)user_data;
  if (maxOperatorNodeHasAttribute(node, "wrong", &has)) return MAX_STATUS_INTERNAL;
  if (has) return maxOperatorNodeGetInts(node, "wrong", &ints, &count);
  return maxShapeContextSetOutputLike(context, 0, 0);
}

static MaxStatus read_attributes(void* user_data, const MaxOperatorNode* node, void* state,
                                 const MaxOperatorCall* call) {
  int64_t i = 0;
  float f = 0;
  const char *s = NULL, *name = NULL, *text = NULL;
  const int64_t *ints = NULL, *shape = NULL;
  const float* floats = NULL;
  int32_t int_count = 0, float_count = 0, string_count = 0, rank = 0, outputs = 0;
  MaxDType dtype = MAX_DTYPE_INVALID;
  const void* data = NULL;
  (void)user_data;
  (void)state;
  if (maxOperatorNodeGetInt(node, "i", 5, &i) || maxOperatorNodeGetFloat(node, "f", 0.5f, &f) ||
      maxOperatorNodeGetString(node, "s", NULL, &s) || maxOperatorNodeGetInts(node, "ints", &ints, &int_count) ||
      maxOperatorNodeGetFloats(node, "floats", &floats, &float_count) || maxOperatorNodeGetName(node, &name) ||
      maxOperatorNodeGetStringCount(node, "strings", &string_count) || maxOperatorNodeGetOutputCount(node, &outputs) ||
      maxOperatorNodeGetTensor(node, "t", &dtype, &rank, &shape, &data))
    return MAX_STATUS_INTERNAL;
  float sum_of_all = (float)i + f + (s ? (float)strlen(s) : 0.0f) + (float)outputs + (float)strlen(name);
  for (int32_t k = 0; k < int_count; ++k) sum_of_all += (float)ints[k];
  for (int32_t k = 0; k < float_count; ++k) sum_of_all += floats[k];
  for (int32_t k = 0; k < string_count; ++k) {
    if (maxOperatorNodeGetStringAt(node, "strings", k, &text)) return MAX_STATUS_INTERNAL;
    sum_of_all += (float)strlen(text);
  }
  if (data) sum_of_all += ((const float*)data)[shape[0] - 1];
  *(float*)call->outputs[0] = sum_of_all;
  return maxOperatorNodeGetStringAt(node, "strings", string_count, &text) == MAX_STATUS_OUT_OF_RANGE
             ? MAX_STATUS_OK
             : MAX_STATUS_INTERNAL;
}

/* As many outputs as inputs, in reverse order. */
static MaxStatus infer_reversed(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  int32_t inputs = 0, outputs = 0;
  (void)user_data;
  MaxStatus status = maxOperatorNodeGetInputCount(node, &inputs);
  if (!status) status = maxOperatorNodeGetOutputCount(node, &outputs);
  if (!status && inputs != outputs) status = maxExtensionFail(MAX_STATUS_INVALID_ARGUMENT, "as many as inputs");
  for (int32_t i = 0; !status && i < outputs; ++i) status = maxShapeContextSetOutputLike(context, i, inputs - 1 - i);
  return status;
}

static MaxStatus reversed(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  (void)user_data;
  (void)node;
  (void)state;
  for (int32_t i = 0; i < call->outputCount; ++i) {
    const int32_t from = call->inputCount - 1 - i;
    if (call->outputs[i])
      memcpy(call->outputs[i], call->inputs[from], (size_t)call->inputElementCounts[from] * sizeof(float));
  }
  return MAX_STATUS_OK;
}

/* Doubles with a kernel of the device that the node runs on. */
static MaxStatus infer_on_no_device(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  MaxDevice* device = (MaxDevice*)&executions;
  (void)user_data;
  const MaxStatus status = maxOperatorNodeGetDevice(node, &device);
  if (status == MAX_STATUS_OK && device) return maxExtensionFail(MAX_STATUS_INTERNAL, "a device");
  return status == MAX_STATUS_OK ? maxShapeContextSetOutputLike(context, 0, 0) : status;
}

static MaxStatus prepare_module(void* user_data, const MaxOperatorNode* node, void** out_state) {
  MaxDevice* device = NULL;
  (void)user_data;
  const MaxStatus status = maxOperatorNodeGetDevice(node, &device);
  if (status != MAX_STATUS_OK) return status;
  return maxModuleCompile(device,
                          "extern \"C\" __global__ void twice(const float* x, float* y, int n) {\n"
                          "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * x[i];\n"
                          "}\n",
                          "twice.cu", NULL, (MaxModule**)out_state);
}

static void destroy_module(void* user_data, void* state) {
  (void)user_data;
  maxModuleRelease(state);
}

static MaxStatus launch_twice(void* user_data, const MaxOperatorNode* node, void* state, const MaxOperatorCall* call) {
  const int32_t count = (int32_t)call->inputElementCounts[0];
  const void* arguments[] = {&call->inputs[0], &call->outputs[0], &count};
  MaxLaunchConfig config = MAX_LAUNCH_CONFIG_INIT;
  MaxKernel* kernel = NULL;
  MaxDevice* device = NULL;
  (void)user_data;
  config.block[0] = 64;
  MaxStatus status = maxOperatorNodeGetDevice(node, &device);
  if (status == MAX_STATUS_OK && device != call->device) return maxExtensionFail(MAX_STATUS_INTERNAL, "two devices");
  if (status == MAX_STATUS_OK) status = maxModuleGetKernel(state, "twice", &kernel);
  return status == MAX_STATUS_OK ? maxKernelLaunch(kernel, &config, arguments, NULL, 3, call->stream) : status;
}

#define ROW(row_name, signature, least, most, outputs, infer_function, execute_function, ...)                          \
  {                                                                                                                    \
    .structSize = sizeof(MaxOperator), .domain = "test", .name = row_name, .types = (signature), .minInputs = (least), \
    .maxInputs = (most), .minOutputs = 1, .maxOutputs = (outputs), .infer = (infer_function),                          \
    .execute = (execute_function), __VA_ARGS__,                                                                        \
  }
#define FLOATS "T->T; T=float32"

static const MaxOperator operators_of_tests[] = {
    ROW("Copy", "T->T; T=float32|string", 1, 1, 1, infer_like, copy, .attributes = ""),
    ROW("Noise", FLOATS, 1, 1, 1, infer_like, copy, .traits = MAX_OPERATOR_TRAITS_RANDOM),
    ROW("Sum", NULL, 1, 3, 2, infer_sum, sum, .attributes = "numbers=F", .prepare = prepare_sum,
        .destroy = destroy_sum),
    ROW("Unprepared", NULL, 1, 1, 2, infer_sum, sum, .prepare = prepare_sum, .destroy = destroy_sum,
        .userData = &executions),
    ROW("Failing", FLOATS, 1, 1, 1, infer_failing, execute_failing, .attributes = NULL),
    ROW("Odd", NULL, 1, 1, 1, infer_odd, copy, .attributes = NULL),
    ROW("Rows", "T,int64->T; T=float32", 2, 2, 1, infer_rows, rows, .shapeInputs = 2),
    ROW("Late", "T->T,int8; T=float32", 1, 1, 2, infer_late, make_late, .traits = MAX_OPERATOR_TRAITS_DATA_DEPENDENT),
    ROW("Reversed", "float32...->float32...", 1, MAX_OPERATOR_COUNT_ANY, MAX_OPERATOR_COUNT_ANY, infer_reversed,
        reversed, .attributes = ""),
    ROW("Twice", FLOATS, 1, 1, 1, infer_on_no_device, launch_twice, .prepare = prepare_module,
        .destroy = destroy_module),
    ROW("Attributes", FLOATS, 1, 1, 1, infer_attributes, read_attributes, .attributes = NULL),
};

#endif
