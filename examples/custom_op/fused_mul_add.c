/* A custom operator for ONNX Runtime: y = x * a + b in one pass over memory.
 *
 *     cc -O3 -march=native -fopenmp-simd -fPIC -shared -o libfused_mul_add.so fused_mul_add.c
 *
 * Mul and Add are two operators, so the product is written to memory and read again. ONNX Runtime
 * fuses them at no level; this kernel does. `a` and `b` have the shape of `x`, or one value in no
 * more axes than `x`: y has the shape of `x`.
 */

#include <stdlib.h>
#include <string.h>

#include "ort_abi.h"

#define DOMAIN_NAME "fusescope.example"
#define OPERATOR_NAME "FusedMulAdd"
#define PART_VALUES 16384 /* 64 KiB: long beside the cost of handing it to a thread */

#define MAX_AXES 16

#define UNUSED(parameter) (void)(parameter)

enum { X, A, B, INPUTS };

typedef struct Kernel {
  const OrtApi *api;
} Kernel;

typedef struct Shape {
  size_t axes, count; /* count: how many values */
  int64_t sizes[MAX_AXES];
} Shape;

typedef struct Chain {
  const float *x, *a, *b;
  float *y;
  size_t count;
  int a_is_one, b_is_one;
} Chain;

/* `y` may be `x`: every value is read before it is written, which is all that `omp simd` needs. */
static void run_part(void *data, size_t part) {
  const Chain *chain = data;
  const size_t first = part * PART_VALUES;
  const size_t left = chain->count - first;
  const size_t count = left < PART_VALUES ? left : PART_VALUES;
  const float *x = chain->x + first;
  const float *a = chain->a_is_one ? chain->a : chain->a + first;
  const float *b = chain->b_is_one ? chain->b : chain->b + first;
  float *y = chain->y + first;
  const float a0 = *a, b0 = *b;
  if (chain->a_is_one && chain->b_is_one) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) y[i] = x[i] * a0 + b0;
  } else if (chain->a_is_one) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) y[i] = x[i] * a0 + b[i];
  } else if (chain->b_is_one) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) y[i] = x[i] * a[i] + b0;
  } else {
#pragma omp simd
    for (size_t i = 0; i < count; i++) y[i] = x[i] * a[i] + b[i];
  }
}

/* The shape and the values of an input. */
static OrtStatus *input(const OrtApi *api, OrtKernelContext *context, size_t place, Shape *shape,
                        const float **values) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  const OrtValue *tensor = NULL;
  void *data = NULL;
  OrtStatus *failed = call(api, KernelContext_GetInput)(context, place, &tensor);
  if (!failed) failed = call(api, GetTensorMutableData)((OrtValue *)tensor, &data);
  if (!failed) failed = call(api, GetTensorTypeAndShape)(tensor, &info);
  if (!failed) failed = call(api, GetTensorShapeElementCount)(info, &shape->count);
  if (!failed) failed = call(api, GetDimensionsCount)(info, &shape->axes);
  if (!failed && shape->axes > MAX_AXES) {
    failed = call(api, CreateStatus)(ORT_INVALID_ARGUMENT, "FusedMulAdd: more than 16 axes");
  }
  if (!failed) failed = call(api, GetDimensions)(info, shape->sizes, shape->axes);
  if (info) call(api, ReleaseTensorTypeAndShapeInfo)(info);
  *values = data;
  return failed;
}

/* One value fits any x of as many axes or more: with fewer, y would have the axes of the value. */
static int is_one(const Shape *shape, const Shape *x) {
  return shape->count == 1 && shape->axes <= x->axes;
}

/* The same sizes: as many values in other axes mean another result, or none. */
static int is_same(const Shape *shape, const Shape *x) {
  return shape->axes == x->axes &&
         memcmp(shape->sizes, x->sizes, x->axes * sizeof x->sizes[0]) == 0;
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context) {
  const OrtApi *api = ((Kernel *)kernel)->api;
  Chain chain = {0};
  Shape x = {0}, a = {0}, b = {0};
  OrtValue *output = NULL;
  void *data = NULL;
  OrtStatus *failed = input(api, context, X, &x, &chain.x);
  if (!failed) failed = input(api, context, A, &a, &chain.a);
  if (!failed) failed = input(api, context, B, &b, &chain.b);
  if (failed) return failed;
  chain.count = x.count;
  chain.a_is_one = is_one(&a, &x);
  chain.b_is_one = is_one(&b, &x);
  if (!(chain.a_is_one || is_same(&a, &x)) || !(chain.b_is_one || is_same(&b, &x))) {
    return call(api, CreateStatus)(
        ORT_INVALID_ARGUMENT, "FusedMulAdd: a and b need the shape of x, or one value");
  }
  failed = call(api, KernelContext_GetOutput)(context, 0, x.sizes, x.axes, &output);
  if (!failed) failed = call(api, GetTensorMutableData)(output, &data);
  if (failed || x.count == 0) return failed;
  chain.y = data;
  const size_t parts = (x.count + PART_VALUES - 1) / PART_VALUES;
  return call(api, KernelContext_ParallelFor)(context, run_part, parts, 0, &chain);
}

static OrtStatus *create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                         void **kernel) {
  UNUSED(op), UNUSED(info);
  Kernel *made = malloc(sizeof *made);
  if (!made) return call(api, CreateStatus)(ORT_FAIL, "FusedMulAdd: out of memory");
  made->api = api;
  *kernel = made;
  return NULL;
}

/* The engine may let y take the memory of x, where nobody reads x any more. */
static size_t may_be_in_place(int **inputs, int **outputs) {
  *inputs = malloc(sizeof **inputs);
  *outputs = malloc(sizeof **outputs);
  if (!*inputs || !*outputs) return 0; /* the engine frees them all the same */
  **inputs = X;
  **outputs = 0;
  return 1;
}

static void release_in_place(int *inputs, int *outputs) {
  free(inputs);
  free(outputs);
}

static const char *name(const OrtCustomOp *op) { UNUSED(op); return OPERATOR_NAME; }
static const char *provider(const OrtCustomOp *op) { UNUSED(op); return NULL; }
static size_t inputs(const OrtCustomOp *op) { UNUSED(op); return INPUTS; }
static size_t outputs(const OrtCustomOp *op) { UNUSED(op); return 1; }
static int type(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}
static int required(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return INPUT_OUTPUT_REQUIRED;
}
static int memory(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return OrtMemTypeDefault;
}

static const OrtApi *shape_api; /* shape inference is handed none */

/* Tells the shape of y beforehand, so that the engine can plan the memory of what follows. */
static OrtStatus *infer_shape(const OrtCustomOp *op, OrtShapeInferContext *context) {
  OrtTensorTypeAndShapeInfo *info = NULL; /* stays the engine's */
  UNUSED(op);
  OrtStatus *failed = call(shape_api, ShapeInferContext_GetInputTypeShape)(context, X, &info);
  if (failed) return failed;
  return call(shape_api, ShapeInferContext_SetOutputTypeShape)(context, 0, info);
}

static const OrtCustomOp fused_mul_add = {
    .version = ORT_API_VERSION,
    .GetName = name,
    .GetExecutionProviderType = provider,
    .GetInputType = type,
    .GetInputTypeCount = inputs,
    .GetOutputType = type,
    .GetOutputTypeCount = outputs,
    .KernelDestroy = free,
    .GetInputCharacteristic = required,
    .GetOutputCharacteristic = required,
    .GetInputMemoryType = memory,
    .CreateKernelV2 = create,
    .KernelComputeV2 = compute,
    .InferOutputShapeFn = infer_shape,
    .GetMayInplace = may_be_in_place,
    .ReleaseMayInplace = release_in_place,
};

/* The one symbol that the engine looks for. It is called for every session. */
OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base);
OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base) {
  /* Domains live as long as the process: sessions of any age may use them. */
  static OrtCustomOpDomain *domain;
  const OrtApi *api = base->GetApi(ORT_API_VERSION);
  OrtStatus *failed = NULL;
  if (!api) {
    return call(base->GetApi(1), CreateStatus)(
        ORT_FAIL, "FusedMulAdd needs ONNX Runtime 1.18 or newer");
  }
  shape_api = api;
  if (!domain) {
    failed = call(api, CreateCustomOpDomain)(DOMAIN_NAME, &domain);
    if (!failed) failed = call(api, CustomOpDomain_Add)(domain, &fused_mul_add);
  }
  return failed ? failed : call(api, AddCustomOpDomain)(options, domain);
}
