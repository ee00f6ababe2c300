/* The part of ONNX Runtime's C ABI that our operators use, declared by hand: the Python package
 * of ONNX Runtime ships no headers.
 *
 * This can be done because the ABI only grows. OrtApi is a table of function pointers: a new version
 * appends to it and never moves, removes or changes an entry ("Rules on how to add a new Ort API
 * version" in onnxruntime/core/session/onnxruntime_c_api.cc, where assertions pin the places).
 * OrtCustomOp grows in the same way: `version` in it tells the engine how far the operator fills it.
 * So the library works with ONNX Runtime 1.18, whose API version it asks for, and with any later one.
 *
 * With the header of a release (onnxruntime_c_api.h) include that instead of this file; the names of
 * types and members are the same, and call(api, NAME) becomes api->NAME.
 */

#ifndef ORT_ABI_H
#define ORT_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ORT_API_VERSION 18

typedef struct OrtStatus OrtStatus; /* NULL is success */
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtCustomOp OrtCustomOp;

/* Values of the enumerations ONNXTensorElementDataType, OrtErrorCode, OrtMemType and
 * OrtCustomOpInputOutputCharacteristic; each is an int in the ABI. */
enum { ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1 };
enum { ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2 };
enum { OrtMemTypeDefault = 0 };
enum { INPUT_OUTPUT_REQUIRED = 0, INPUT_OUTPUT_VARIADIC = 2 };

/* What OrtGetApiBase() gives: the engine hands it to RegisterCustomOps. */
typedef void (*OrtFunction)(void);
typedef struct OrtApi {
  OrtFunction functions[275]; /* those of API version 17 */
} OrtApi;
typedef struct OrtApiBase {
  const OrtApi *(*GetApi)(uint32_t version); /* NULL for a version that the engine does not know */
  const char *(*GetVersionString)(void);
} OrtApiBase;

/* Places in OrtApi, counted from 0, and the types of the functions there. */
enum {
  ORT_CreateStatus = 0,
  ORT_CreateCustomOpDomain = 26,
  ORT_CustomOpDomain_Add = 27,
  ORT_AddCustomOpDomain = 28,
  ORT_GetTensorMutableData = 51,
  ORT_GetDimensionsCount = 61,
  ORT_GetDimensions = 62,
  ORT_GetTensorTypeAndShape = 65,
  ORT_KernelInfoGetAttribute_int64 = 86,
  ORT_KernelContext_GetInput = 90,
  ORT_KernelContext_GetOutput = 91,
  ORT_ReleaseTensorTypeAndShapeInfo = 99,
  ORT_KernelContext_ParallelFor = 274
};
typedef OrtStatus *(*CreateStatus)(int code, const char *message);
typedef OrtStatus *(*CreateCustomOpDomain)(const char *name, OrtCustomOpDomain **domain);
typedef OrtStatus *(*CustomOpDomain_Add)(OrtCustomOpDomain *domain, const OrtCustomOp *op);
typedef OrtStatus *(*AddCustomOpDomain)(OrtSessionOptions *options, OrtCustomOpDomain *domain);
typedef OrtStatus *(*GetTensorMutableData)(OrtValue *tensor, void **data);
typedef OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *info, size_t *count);
typedef OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *info, int64_t *sizes,
                                    size_t count);
typedef OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *tensor,
                                            OrtTensorTypeAndShapeInfo **info);
typedef OrtStatus *(*KernelInfoGetAttribute_int64)(const OrtKernelInfo *info, const char *name,
                                                   int64_t *value);
typedef OrtStatus *(*KernelContext_GetInput)(const OrtKernelContext *context, size_t place,
                                             const OrtValue **tensor);
typedef OrtStatus *(*KernelContext_GetOutput)(OrtKernelContext *context, size_t place,
                                              const int64_t *sizes, size_t count,
                                              OrtValue **tensor);
typedef void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *info);
typedef OrtStatus *(*KernelContext_ParallelFor)(const OrtKernelContext *context,
                                                void (*work)(void *data, size_t part),
                                                size_t parts, size_t batches, void *data);

/* call(api, GetDimensions)(info, sizes, count) */
#define call(api, name) ((name)(api)->functions[ORT_##name])

/* One operator. Members that an operator does not need are NULL where a comment says so. */
struct OrtCustomOp {
  uint32_t version; /* ORT_API_VERSION: how many of the members below the engine may read */
  void *(*CreateKernel)(const OrtCustomOp *, const OrtApi *, const OrtKernelInfo *); /* or V2 */
  const char *(*GetName)(const OrtCustomOp *);
  const char *(*GetExecutionProviderType)(const OrtCustomOp *); /* may return NULL: the CPU */
  int (*GetInputType)(const OrtCustomOp *, size_t place);
  size_t (*GetInputTypeCount)(const OrtCustomOp *);
  int (*GetOutputType)(const OrtCustomOp *, size_t place);
  size_t (*GetOutputTypeCount)(const OrtCustomOp *);
  void (*KernelCompute)(void *kernel, OrtKernelContext *); /* or V2 */
  void (*KernelDestroy)(void *kernel);
  int (*GetInputCharacteristic)(const OrtCustomOp *, size_t place);
  int (*GetOutputCharacteristic)(const OrtCustomOp *, size_t place);
  int (*GetInputMemoryType)(const OrtCustomOp *, size_t place);
  int (*GetVariadicInputMinArity)(const OrtCustomOp *);      /* of variadic inputs only */
  int (*GetVariadicInputHomogeneity)(const OrtCustomOp *);   /* of variadic inputs only */
  int (*GetVariadicOutputMinArity)(const OrtCustomOp *);     /* of variadic outputs only */
  int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *);  /* of variadic outputs only */
  OrtStatus *(*CreateKernelV2)(const OrtCustomOp *, const OrtApi *, const OrtKernelInfo *,
                               void **kernel);
  OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *);
  OrtStatus *(*InferOutputShapeFn)(const OrtCustomOp *, OrtShapeInferContext *); /* may be NULL */
  int (*GetStartVersion)(const OrtCustomOp *); /* may be NULL: 1 */
  int (*GetEndVersion)(const OrtCustomOp *);   /* may be NULL: no end */
  size_t (*GetMayInplace)(int **inputs, int **outputs); /* may be NULL */
  void (*ReleaseMayInplace)(int *inputs, int *outputs);
  size_t (*GetAliasMap)(int **inputs, int **outputs); /* may be NULL */
  void (*ReleaseAliasMap)(int *inputs, int *outputs);
};

#endif
