/* The programs as operators of ONNX Runtime. Included at the end of a generated file, which defines
 * DOMAIN_NAME, MOST_OPERANDS, programs[], PROGRAMS and operator_names[], OPERATORS.
 *
 * Which program a node runs is its attribute `program`. A program is built for the shapes of one
 * recording, so those of every run are compared with them. Each session has kernels of its own and
 * runs one at a time, so scratch memory is made once. */

#define UNUSED(parameter) (void)(parameter)

typedef struct Kernel {
  const OrtApi *api;
  const Program *program;
  float *scratch;
} Kernel;

typedef struct Work {
  const Program *program;
  float *arrays[MOST_OPERANDS + 2];
} Work;

typedef struct Operator {
  OrtCustomOp op; /* the first member: the engine hands its address back */
  const char *name;
} Operator;

static void run_part(void *data, size_t part) {
  const Work *work = data;
  work->program->run(work->arrays, (intptr_t)part);
}

/* The values of an input, which must have the shape that the program was built for. */
static OrtStatus *input(const OrtApi *api, OrtKernelContext *context, size_t place,
                        const Shape *shape, float **values) {
  OrtTensorTypeAndShapeInfo *info = NULL;
  const OrtValue *tensor = NULL;
  void *data = NULL;
  size_t axes = 0;
  int64_t sizes[MOST_AXES] = {0};
  OrtStatus *failed = call(api, KernelContext_GetInput)(context, place, &tensor);
  if (!failed) failed = call(api, GetTensorMutableData)((OrtValue *)tensor, &data);
  if (!failed) failed = call(api, GetTensorTypeAndShape)(tensor, &info);
  if (!failed) failed = call(api, GetDimensionsCount)(info, &axes);
  const int is_known = axes == shape->axes; /* of which MOST_AXES are the most */
  if (!failed && is_known) failed = call(api, GetDimensions)(info, sizes, axes);
  if (info) call(api, ReleaseTensorTypeAndShapeInfo)(info);
  if (!failed && !(is_known && memcmp(sizes, shape->sizes, axes * sizeof sizes[0]) == 0)) {
    failed = call(api, CreateStatus)(
        ORT_INVALID_ARGUMENT, "FuseScope built this kernel for tensors of another shape");
  }
  *values = data;
  return failed;
}

static OrtStatus *compute(void *state, OrtKernelContext *context) {
  const Kernel *kernel = state;
  const OrtApi *api = kernel->api;
  const Program *program = kernel->program;
  const Shape *result = &program->shapes[program->operands];
  Work work = {program, {0}};
  OrtValue *output = NULL;
  void *data = NULL;
  OrtStatus *failed = NULL;
  for (size_t place = 0; !failed && place < program->operands; place++) {
    failed = input(api, context, place, &program->shapes[place], &work.arrays[place + 1]);
  }
  if (!failed) {
    failed = call(api, KernelContext_GetOutput)(context, 0, result->sizes, result->axes, &output);
  }
  if (!failed) failed = call(api, GetTensorMutableData)(output, &data);
  if (failed) return failed;
  work.arrays[0] = data;
  work.arrays[program->operands + 1] = kernel->scratch;
  if (program->parts > 1) {
    return call(api, KernelContext_ParallelFor)(context, run_part, program->parts, 0, &work);
  }
  run_part(&work, 0);
  return NULL;
}

static void destroy(void *state) {
  free(((Kernel *)state)->scratch);
  free(state);
}

static OrtStatus *create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                         void **state) {
  int64_t place = -1;
  UNUSED(op);
  OrtStatus *failed = call(api, KernelInfoGetAttribute_int64)(info, "program", &place);
  if (failed) return failed;
  if (place < 0 || place >= PROGRAMS) {
    return call(api, CreateStatus)(ORT_INVALID_ARGUMENT, "FuseScope built no such kernel");
  }
  Kernel *made = calloc(1, sizeof *made);
  const size_t floats = programs[place].scratch_floats;
  if (made && floats) made->scratch = malloc(floats * sizeof(float));
  if (!made || (floats && !made->scratch)) {
    free(made);
    return call(api, CreateStatus)(ORT_FAIL, "a kernel of FuseScope: out of memory");
  }
  made->api = api;
  made->program = &programs[place];
  *state = made;
  return NULL;
}

/* The engine may let the result take the memory of an operand of its shape that nobody reads any
 * more: a program reads every value of one before it writes there. */
static size_t may_be_in_place(int **inputs, int **outputs) {
  *inputs = calloc(MOST_OPERANDS, sizeof **inputs);
  *outputs = calloc(MOST_OPERANDS, sizeof **outputs);
  if (!*inputs || !*outputs) return 0; /* the engine frees them all the same */
  for (int place = 0; place < MOST_OPERANDS; place++) (*inputs)[place] = place;
  return MOST_OPERANDS;
}

static void release_in_place(int *inputs, int *outputs) {
  free(inputs);
  free(outputs);
}

static const char *name(const OrtCustomOp *op) { return ((const Operator *)op)->name; }
static const char *provider(const OrtCustomOp *op) { UNUSED(op); return NULL; }
static size_t one(const OrtCustomOp *op) { UNUSED(op); return 1; }
static int at_least_one(const OrtCustomOp *op) { UNUSED(op); return 1; }
static int type(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}
static int variadic(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return INPUT_OUTPUT_VARIADIC;
}
static int required(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return INPUT_OUTPUT_REQUIRED;
}
static int memory(const OrtCustomOp *op, size_t place) {
  UNUSED(op), UNUSED(place);
  return OrtMemTypeDefault;
}

static const OrtCustomOp operator_of_ours = {
    .version = ORT_API_VERSION,
    .GetName = name,
    .GetExecutionProviderType = provider,
    .GetInputType = type,
    .GetInputTypeCount = one,
    .GetOutputType = type,
    .GetOutputTypeCount = one,
    .KernelDestroy = destroy,
    .GetInputCharacteristic = variadic,
    .GetOutputCharacteristic = required,
    .GetInputMemoryType = memory,
    .GetVariadicInputMinArity = at_least_one,
    .GetVariadicInputHomogeneity = at_least_one,
    .CreateKernelV2 = create,
    .KernelComputeV2 = compute,
    .GetMayInplace = may_be_in_place,
    .ReleaseMayInplace = release_in_place,
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base);
OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base) {
  /* Both live as long as the process: sessions of any age may use them. */
  static OrtCustomOpDomain *domain;
  static Operator operators[OPERATORS];
  const OrtApi *api = base->GetApi(ORT_API_VERSION);
  OrtStatus *failed = NULL;
  if (!api) {
    return call(base->GetApi(1), CreateStatus)(
        ORT_FAIL, "kernels of FuseScope need ONNX Runtime 1.18 or newer");
  }
  if (!domain) {
    failed = call(api, CreateCustomOpDomain)(DOMAIN_NAME, &domain);
    for (int place = 0; !failed && place < OPERATORS; place++) {
      operators[place].op = operator_of_ours;
      operators[place].name = operator_names[place];
      failed = call(api, CustomOpDomain_Add)(domain, &operators[place].op);
    }
  }
  return failed ? failed : call(api, AddCustomOpDomain)(options, domain);
}
