/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An extension with two operators of the domain "example".
 *
 * Softsign: y = scale * x / (1 + |x|), of any shape, on as many threads as the call may use.
 * Positive: the elements above zero, in order: how many is known only after a look at them.
 */
#include <math.h>
#include <max/max.h>

/* Softsign: the output has the input's shape; its type is told by the signature in the table. */
static MaxStatus softsign_infer(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  (void)user_data;
  (void)node;
  return maxShapeContextSetOutputLike(context, 0, 0);
}

struct softsign {
  const float* x;
  float* y;
  float scale;
};

static void softsign_part(void* user_data, int64_t begin, int64_t end, int32_t lane) {
  const struct softsign* job = user_data;
  (void)lane;
  for (int64_t i = begin; i < end; ++i) job->y[i] = job->scale * job->x[i] / (1 + fabsf(job->x[i]));
}

static MaxStatus softsign_execute(void* user_data, const MaxOperatorNode* node, void* state,
                                  const MaxOperatorCall* call) {
  (void)user_data;
  (void)state;
  struct softsign job = {call->inputs[0], call->outputs[0], 1};
  const MaxStatus status = maxOperatorNodeGetFloat(node, "scale", 1, &job.scale);
  if (status != MAX_STATUS_OK) return status;
  if (!(job.scale > 0)) return maxExtensionFail(MAX_STATUS_INVALID_ARGUMENT, "scale must be above zero");
  return maxOperatorCallParallelFor(call, call->inputElementCounts[0], 16384, softsign_part, &job);
}

/* Positive: one dimension, not known before the run. */
static MaxStatus positive_infer(void* user_data, const MaxOperatorNode* node, MaxShapeContext* context) {
  static const int64_t any[] = {MAX_DIMENSION_DYNAMIC};
  (void)user_data;
  (void)node;
  return maxShapeContextSetOutputShape(context, 0, 1, any);
}

static MaxStatus positive_execute(void* user_data, const MaxOperatorNode* node, void* state,
                                  const MaxOperatorCall* call) {
  const float* x = call->inputs[0];
  int64_t found = 0;
  void* memory = NULL;
  (void)user_data;
  (void)node;
  (void)state;
  for (int64_t i = 0; i < call->inputElementCounts[0]; ++i) found += x[i] > 0;
  const MaxStatus status = maxOperatorCallAllocateOutput(call, 0, 1, &found, &memory);
  if (status != MAX_STATUS_OK) return status;
  float* y = memory;
  for (int64_t i = 0; i < call->inputElementCounts[0]; ++i)
    if (x[i] > 0) *y++ = x[i];
  return MAX_STATUS_OK;
}

static const MaxOperator softsign = {
    .structSize = sizeof(MaxOperator),
    .domain = "example",
    .name = "Softsign",
    .types = "T->T; T=float32",
    .attributes = "scale=f",
    .minInputs = 1,
    .maxInputs = 1,
    .minOutputs = 1,
    .maxOutputs = 1,
    .infer = softsign_infer,
    .execute = softsign_execute,
};

static const MaxOperator positive = {
    .structSize = sizeof(MaxOperator),
    .domain = "example",
    .name = "Positive",
    .types = "T->T; T=float32",
    .attributes = "",
    .minInputs = 1,
    .maxInputs = 1,
    .minOutputs = 1,
    .maxOutputs = 1,
    .traits = MAX_OPERATOR_TRAITS_DATA_DEPENDENT,
    .infer = positive_infer,
    .execute = positive_execute,
};

static const MaxOperator* const operators[] = {&softsign, &positive};

static const MaxExtensionTable table = {
    .structSize = sizeof(MaxExtensionTable),
    .abiVersion = MAX_EXTENSION_ABI_VERSION,
    .operatorCount = sizeof operators / sizeof *operators,
    .operators = operators,
};

/* The one function that the library looks for. */
const MaxExtensionTable* maxExtensionGetTable(int32_t abi_version) {
  return abi_version == MAX_EXTENSION_ABI_VERSION ? &table : NULL;
}
