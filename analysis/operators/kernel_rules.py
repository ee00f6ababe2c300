"""What the names of device kernels tell: ordered rules, the first that is found decides.

Patterns are searched for in lower-case text of bounded length; each runs in linear time. Names are
those of cuBLAS, cuDNN, CUTLASS, MIOpen, Tensile, Composable Kernel, AITER, PyTorch, TensorRT,
TensorRT-LLM, vLLM, SGLang, FlashInfer, DeepGEMM, Triton's own kernels and XLA, as they stand in
profiles.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

_RULES: Sequence[tuple[str, str]] = (
    ("communication", r"^(?:void )?(?:nccl|rccl|hcom_|hccl|msccl)|ncclkernel|nccldevkernel"),
    ("communication", r"cross_device_reduce|allreduce|all_reduce|allgather|all_gather"),
    ("communication", r"reducescatter|reduce_scatter|alltoall|all_to_all|nvshmem|deep_ep::"),
    ("copy", r"^\[?(?:cuda |hip )?mem(?:cpy|set)|^copybuffer|^fillbuffer|__amd_rocclr_"),
    # Steps of serving engines, before the attention and the products whose names they share.
    ("optimizer", r"adam|adagrad|rmsprop|lamb_|fusedoptimizer|sgd_?(?:math)?functor"),
    ("grouped_product", r"fused_moe_kernel|moe_?(?:gemm|mm_|wna16)|marlin_moe|moe_marlin"),
    ("grouped_product", r"group(?:ed)?_?gemm|gemm_?grouped|grouped_mm|groupproblemshape"),
    ("grouped_product", r"moe_(?:ck2stages|2stage|stage[12])|flatmm_moe|(?:^|[:_\d])fmoe_"),
    ("grouped_product", r"deep_gemm::gemmtype\)[123]|^bmm_(?:mxe|e4m3|e2m1|bfloat16)|matmul_ogs"),
    ("routing", r"topk_?gating|topk_?softmax|topk_?sigmoid|moe_?fused_?gate|grouped_topk"),
    ("routing", r"moe_?(?:align|sum|permute|unpermute|finalize|sorting|combine|reduce|topk)"),
    ("routing", r"count_and_sort_expert|finalizemoerouting|expandinputrows|compute_expert"),
    ("routing", r"routing(?:main|custom|indices|kernel|init|render)|expert_first_token"),
    ("routing", r"_bitmatrix|expt_data|^_topk_forward|ep_scatter|ep_gather|shuffle_rows"),
    ("kv_cache", r"reshape_and_cache|concat_and_cache|store_?kv|set_(?:mla_)?kv_buffer"),
    ("kv_cache", r"append_?paged_?kv|(?:write|update|append|copy|swap|transfer|gather)_?kv_?cache"),
    ("kv_cache", r"cp_gather_cache|gather_cache|copy_blocks_kernel|copyblocks|kv_indices"),
    ("rotary", r"rotary|(?:^|[_:])m?rope(?:_|kernel|quant|$)|_rope$|apply_?rope|normrope"),
    ("sampling", r"(?<!up)(?<!down)sampling(?:from|_from|kernel|_kernel|prob)|top_?k_?top_?p"),
    ("sampling", r"multinomial|apply_?(?:repetition_)?penalt|topp(?:renorm|sampl|mask)"),
    ("sampling", r"topkrenorm|topkmasklogits|rejection_(?:greedy|random)|sample_recovered"),
    ("sampling", r"verify_?tree_?greedy"),
    ("layout", r"^reformatting|nchw_?to_?nhwc|nhwc_?to_?nchw|nchw_?to_?ncdhw"),
    ("layout", r"tensortransform|batched_transpose|transpose_readwrite"),
    # Normalisations and pools of the convolution libraries, before the convolutions.
    ("normalisation", r"batch_?norm|bn_fw|bn_bw|bn_tr|bnfwd|bnbwd|miopenbatchnorm|layer_?norm"),
    ("normalisation", r"rms_?norm|group_?norm|instance_?norm|rowwisemoments|gammabeta"),
    ("normalisation", r"computeinternalgradients|computefusedparams|computebackwardfused"),
    ("normalisation", r"layernormforward|_ln_fwd|ln_bwd|ln_fwd|norm_fwd|norm_bwd|welford"),
    ("pooling", r"pooling|max_?pool|avg_?pool|average_?pool|roi_?align|roi_?pool|mloppool"),
    ("attention", r"flash|fmha|attention|attn|sage_(?:fwd|bwd)|sdpa|multihead|mha_|_mha"),
    ("attention", r"fwd_splitkv|mla_|(?:prefill|decode)with\w{0,12}kv|mergestates"),
    ("attention", r"(?:^|[:_\d])pa_(?:bf16|fp16|fp8|decode|fwd|reduce)|^_fwd_grouped_kernel_s"),
    ("recurrent", r"lstm|_gru|gru_|rnn"),
    # Before the rest: their names hold the functor of everything.
    ("elementwise", r"multi_tensor_apply|foreach"),
    ("layout", r"im2d?2?_?col|im2col|col2im|im2d2col"),
    ("elementwise", r"scalepackedtensor|addtensor|optensor|op_tensor|subtensorop|op_generic_t"),
    ("matrix_product", r"splitkreduce|splitk_reduce|gemmk1|gemm_?splitk"),
    ("convolution", r"conv(?!er[ts])|cudnn|wgrad|dgrad|fprop|winograd|igemm_(?:fwd|bwd|wrw)"),
    ("convolution", r"implicit_?gemm|cask_cudnn|xmma_(?:fprop|dgrad|wgrad)|miopensp3|depthwise"),
    ("convolution", r"naive_conv|computeb?offsets|kernel_grouped_conv|fft2d_[rc]2[rc]"),
    ("matrix_product", r"gemm|gemv|cijk_|nvjet|matmul|mat_mul|_mm_|marlin|cublas|awq|gptq"),
    ("matrix_product", r"dot_kernel|dot_general|reduce_1block|tensorop|wmma|device_kernel.*sm90"),
    ("grouped_product", r"moe_kernel|fused_moe"),
    ("matrix_product", r"_w4a16|_w8a8|bgmv|sgmv|wvsplitk"),
    ("softmax", r"soft_?max"),
    ("activation", r"gelu|silu|swish|sigmoid|tanh|relu|threshold|swiglu|act_and_mul"),
    ("activation", r"clamp|softplus|hardtanh|mish|elu_kernel|glu_kernel|activation|_erf"),
    ("cast", r"bfloat16tofloat32|float16_copy|bfloat16_copy|float8_copy"),
    ("copy", r"copy_device_to_device|direct_copy|copy_kernel"),
    ("data_movement", r"catarray|uniform"),
    ("quantisation", r"quant(?!il)|cvt_fp16_to_fp4"),
    ("cast", r"castkernel|(?<!broad)cast_kernel|convert|tensor_?cast|_cast_|vectorizedcast"),
    ("layout", r"transpose|permute|reformat|reorder"),
    ("embedding", r"embedding"),
    ("data_movement", r"index|gather|scatter|fillfunctor|fill_|_fill|arange|concat"),
    ("data_movement", r"catarraybatched|upsample|interpolate|resize|grid_sample|_pad_|pad_kernel"),
    ("data_movement", r"random|philox|distribution|normal_and_transform|bernoulli|curand"),
    ("data_movement", r"dropout_gen|onehot|one_hot|nonzero|unique|roll_"),
    ("data_movement", r"reflection_pad|replication_pad|tril|triu|flip|repeat|slice|split_|cat_"),
    ("kv_cache", r"cache_kernel"),
    ("copy", r"memset|memcpy|copyb|_copy|copy_"),
    ("reduction", r"nllcriterion|nll_loss|classnll|cross_entropy|mse_loss|loss_"),
    ("reduction", r"reduce|reduction|argmax|argmin|topk|top_k|cumsum|cumprod|_scan|scan_"),
    ("reduction", r"devicescan|norm_kernel|lpnorm|_sum_|sum_kernel|mean_kernel|sort|bitonic|amax"),
    ("reduction", r"histogram|segment_"),
    ("elementwise", r"elementwise|pointwise|functor|dropout|kgen|vectorized_add"),
    ("elementwise", r"add|subtract|multiply|division|divide|mul_|_mul|sqrt|pow_|_pow|where_kernel"),
    ("elementwise", r"axpy|axpby|scal_kernel|compare|bias|exp_|log_kernel|unary|binary"),
)  # fmt: skip


@cache
def rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the class and the pattern of each rule, in order; compiled when a kernel is first
    asked about."""
    return tuple((op_class, re.compile(pattern)) for op_class, pattern in _RULES)
