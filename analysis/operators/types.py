"""Op types as engines and profilers spell them, by operator class.

Names count without case, namespace, '_' and '-' ('aten::max_pool2d' is maxpool2d), without the
versions and variants that `analysis.operators.classes` cuts off ('MatMulV3', 'ReduceSumD',
'ReluGrad'). Of a fused type stands here what its heaviest part is.
"""

from __future__ import annotations

from collections.abc import Mapping

# ONNX and ONNX Runtime; ATen; CANN and MindSpore; TensorRT; OpenVINO; XLA.
TYPES: Mapping[str, str] = {
    "convolution": """Conv ConvTranspose ConvInteger FusedConv NhwcConv QLinearConv DeformConv
        NhwcFusedConv QLinearConvTranspose convolution conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d convolution_pointwise convolution_overrideable
        conv_depthwise2d conv_depthwise3d qconv_pointwise qconv2d_pointwise slow_conv2d_forward
        slow_conv3d_forward slow_conv_dilated2d slow_conv_transpose2d
        convolution_transpose_pointwise depthwise_convolution npu_conv2d convolution_backward
        convolution_backward_weight convolution_backward_input conv2d_weight conv2d_input
        _nnpack_spatial_convolution convolution_relu convolution_add_relu deform_conv2d
        DepthwiseConv2D DepthwiseConv2dNative DepthwiseConv2dBackpropInput
        DepthwiseConv2dBackpropFilter Conv2DBackpropInput Conv2DBackpropFilter Conv2DTranspose
        Conv3DBackpropInput Conv3DBackpropFilter Conv3DTranspose ConvolutionBackward
        DeformableConv2D DeformableOffsets Conv2DCompress QuantConv2D QuantConv3D Deconvolution
        CaskConvolution CaskDeconvolution CudaDepthwiseConvolution FusedConvActConvolution
        CaskFlattenConvolution ConvActPool CaskGemmConvolution CudnnConvolution CudaConvolution
        CaskConvActPool GroupConvolution BinaryConvolution ConvolutionBackpropData
        DeformableConvolution GroupConvolutionBackpropData convolution_fusion""",
    "grouped_product": """GroupedMatmul QMoE MoE grouped_mm scaled_grouped_mm ragged_dot
        GroupedMatmulFinalizeRouting GroupedMatmulSwigluQuant GroupedMatmulAdd GatherMatmul
        GroupedMatMulAllReduce fused_moe fused_experts outplace_fused_experts
        inplace_fused_experts cutlass_moe_mm fp8_blockwise_scaled_grouped_mm cutlass_fused_moe
        trtllm_fp8_block_scale_moe moe_wna16_gemm moe_wna16_marlin_gemm ck_moe asm_moe fmoe
        ck_moe_stage1 ck_moe_stage2""",
    "matrix_product": """Gemm MatMul FusedMatMul FusedGemm MatMulInteger QLinearMatMul QGemm
        MatMulIntegerToFloat DynamicQuantizeMatMul MatMulNBits TransposeMatMul Einsum BatchMatMul
        MatMulBnb4 MatMulFpQ4 GemmFloat8 GemmFastGelu mm bmm addmm addmv addbmm baddbmm addr mv
        dot vdot linear linalg_vecdot matmul_backward linear_pointwise linear_relu scaled_mm
        int_mm weight_int4pack_mm weight_int8pack_mm qlinear_pointwise addmm_activation bilinear
        trilinear outer linear_backward sparse_semi_structured_linear mixed_dtypes_linear
        mkl_linear BatchMatMulBackward QuantBatchMatmul WeightQuantBatchMatmul
        TransposeBatchMatMul MatmulAllReduce MatmulReduceScatter AllGatherMatmul
        MatmulAllReduceAddRmsNorm QuantMatmul FullyConnection FFN MatMulAdd GemmV2 MatmulCompress
        QuantMatmulReduceSum SparseMatMul SparseTensorDenseMatMul AlltoAllAllGatherBatchMatMul
        BatchMatMulReduceScatterAlltoAll LoraAdd AddLora BgmvShrink BgmvExpand MatrixMultiply
        CaskMatrixMultiply gemv CudaGemm CublasGemm BatchedGemm GemmConv CublasConvolution
        LinearLayer FullyConnected FullyConnectedCompressed dot_general general_dot cublas_gemm
        cublaslt_matmul triton_gemm""",
    "attention": """Attention MultiHeadAttention GroupQueryAttention QAttention QOrderedAttention
        DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention PackedAttention
        PackedMultiHeadAttention LongformerAttention SparseAttention PagedAttention
        DecoderAttention LinearAttention scaled_dot_product_attention
        scaled_dot_product_flash_attention scaled_dot_product_efficient_attention
        scaled_dot_product_cudnn_attention scaled_dot_product_fused_attention_overrideable
        scaled_dot_product_attention_math scaled_dot_product_flash_attention_for_cpu
        flash_attention_forward flash_attention_backward efficient_attention_forward
        efficient_attention_backward cudnn_attention_forward transformer_encoder_layer_fwd
        flash_attn_varlen_func flash_attn fmha_fwd fmha_bwd fmha_v3_fwd fmha_v3_bwd mha_fwd
        mha_varlen_fwd unified_attention unified_attention_with_output npu_fusion_attention
        flash_fwd npu_fused_infer_attention_score npu_prompt_flash_attention
        npu_incre_flash_attention paged_attention_v1 flex_attention flex_attention_backward
        varlen_fwd varlen_bwd FlashAttentionScore FusedInferAttentionScore PromptFlashAttention
        IncreFlashAttention FlashAttention FusedFloydAttention MLAProlog MlaPrologV2
        RingAttentionUpdate AttentionUpdate NsaCompressAttention NsaSelectedAttention
        SparseFlashAttention LightningIndexer PagedAttentionMask MultiHeadLatentAttention
        RazorFusionAttention UnpadFlashAttention SelfAttention MLA ScaledDotProductAttention
        ScaledDotProductAttentionWithKVCache MHA SDPA MHAPlugin fmha_v2 QKVToContextPlugin
        DisentangledAttention""",
    "recurrent": """LSTM GRU RNN DynamicQuantizeLSTM AttnLSTM DynamicRNN DynamicGRU RNNv2
        LSTMSequence GRUSequence RNNSequence LSTMCell GRUCell RNNCell TensorIterator AUGRUCell
        rnn_tanh rnn_relu lstm_cell gru_cell thnn_fused_lstm_cell thnn_fused_gru_cell cudnn_rnn
        miopen_rnn mkldnn_rnn_layer BasicLSTMCell CommonLSTM SingleLSTM BidirectionLSTM CudnnRNN
        GRUV2HiddenGrad DynamicLSTM""",
    "activation": """Relu LeakyRelu PRelu Clip Sigmoid HardSigmoid HardSwish Tanh Elu Selu Celu
        Softplus Softsign ThresholdedRelu Mish Gelu FastGelu QuickGelu BiasGelu Silu Swish SwiGLU
        QLinearSigmoid QLinearLeakyRelu Erf Relu6 BiasSplitGelu BiasDropout Shrink clamp
        clamp_min clamp_max clip threshold hardtanh rrelu log_sigmoid logsigmoid glu leaky_relu
        hardshrink softshrink relu_backward silu_and_mul gelu_and_mul gelu_tanh_and_mul
        swiglu_backward erfc erfinv logit gelu_tanh gelu_new GeGlu GeluMul FastGeluMul
        SwiGluQuant DequantSwigluQuant ReluNew SoftMarginLoss HardtanhGrad LogSigmoid ClipByValue
        ClipBoxes ThresholdGrad ClippedSwiglu SoftShrink PReLUActivation Activation
        ParametricRelu HSwish HSigmoid SoftSign hsigmoid hswish normcdf""",
    "softmax": """Softmax LogSoftmax Hardmax BiasSoftmax QLinearSoftmax safe_softmax
        masked_softmax softmax_backward_data log_softmax_backward_data ScaledMaskedSoftmax
        SoftmaxFlash AscendSoftmax SoftmaxCrossEntropyWithLogits SoftmaxTriangular SoftmaxGrad
        SoftmaxWithMask ScaledSoftmax SparseSoftmaxCrossEntropyWithLogits RaggedSoftMax
        SoftMaxLayer prepare_softmax_online cunn_SoftMaxLoss""",
    "normalisation": """BatchNormalization InstanceNormalization LayerNormalization
        SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization
        EmbedLayerNormalization GroupNorm GroupNormalization SkipGroupNorm LRN RMSNormalization
        LpNormalization MeanVarianceNormalization layer_norm batch_norm group_norm instance_norm
        rms_norm local_response_norm batch_norm_impl_index batch_norm_impl_index_backward
        batch_norm_stats batch_norm_elemt batch_norm_gather_stats
        batch_norm_gather_stats_with_counts batch_norm_backward_reduce batch_norm_backward_elemt
        batch_norm_legit batch_norm_legit_no_training batch_norm_legit_functional fused_rms_norm
        fused_add_rms_norm weight_norm weight_norm_interface npu_rms_norm npu_add_rms_norm
        batch_norm_with_update normalize groupnorm_run rmsnorm2d_fwd layernorm2d_fwd RmsNorm
        LayerNorm AddLayerNorm AddRmsNorm BatchNorm BNInfer BNInference BNTrainingReduce
        BNTrainingUpdate BNTrainingReduceGrad BNTrainingUpdateGrad BNInferGrad BatchNormGradGrad
        INTrainingReduce INTrainingUpdate LayerNormXBackprop LayerNormBetaGammaBackprop
        AddRmsNormQuant AddRmsNormDynamicQuant AddRmsNormCast InplaceAddRmsNorm
        InplaceAddLayerNorm DeepNorm GemmaRmsNorm KvRmsNormRopeCache L2Normalize RmsNormQuant
        SyncBatchNormGatherStats SyncBatchNormBackwardReduce SyncBatchNormBackwardElemt
        GroupNormSilu GroupNormSwish AddLayerNormQuant DuaQuantizeAddLayerNorm LayerNormQuant
        RmsNormRope QkRmsNorm Normalization InstanceNorm LpNorm MVN NormalizeL2 RMS
        InstanceNormalizationPlugin""",
    "pooling": """MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool GlobalLpPool
        QLinearAveragePool QLinearGlobalAveragePool MaxUnpool MaxRoiPool RoiAlign NhwcMaxPool
        MaxpoolWithMask max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
        max_pool2d_with_indices max_pool3d_with_indices max_pool1d_with_indices
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d max_unpool2d
        MaxPoolWithArgmax MaxPoolGradWithArgmax AvgPool MaxPool2D MaxPool3D AvgPool3D Pooling
        AdaptiveAvgPool AdaptiveMaxPool ROIAlignGrad PSROIPooling MaxPool3DWithArgmax
        MaxPool3DGradWithArgmax AvgPoolUpdate AscendRoiAlign CaskPooling CudaPooling TiledPooling
        CudnnPooling AvgPooling MaxPooling ROIPooling ROIAlignRotated AdaptivePooling
        reduce_window select_and_scatter""",
    "routing": """MoeGatingTopKSoftmax MoeGatingTopK MoeComputeExpertTokens
        MoeComputeExpertTokensV2 MoeInitRouting MoeInitRoutingQuant MoeFinalizeRouting
        MoeTokenPermute MoeTokenUnpermute MoeTokenPermuteWithEp MoeDistributeDispatch
        MoeDistributeCombine MoeDispatch MoeCombine topk_softmax topk_sigmoid
        moe_align_block_size moe_sum moe_sum_reduce moe_fused_gate biased_grouped_topk
        grouped_topk moe_permute moe_unpermute shuffle_rows moe_sorting_fwd""",
    "sampling": """multinomial top_k_top_p_sampling_from_probs top_p_sampling_from_probs
        top_k_sampling_from_probs min_p_sampling_from_probs sampling_from_probs
        top_k_renorm_probs top_p_renorm_probs top_k_mask_logits apply_repetition_penalties
        tree_speculative_sampling_target_only ApplyTopKTopP TopKTopPSample""",
    "reduction": """ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2
        ReduceLogSum ReduceLogSumExp ReduceSumSquare ArgMax ArgMin TopK CumSum ReduceSumInteger
        QLinearReduceMean mean amax amin aminmax prod norm linalg_vector_norm var std var_mean
        std_mean any all logsumexp cumprod cummax cummin nansum median mode kthvalue
        count_nonzero argsort sort nll_loss nll_loss_forward nll_loss2d nll_loss2d_forward
        cross_entropy_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div
        cross_entropy trace bincount histc searchsorted isin unique_consecutive equal
        segment_reduce logcumsumexp renorm dist cdist pdist ReduceAll ReduceAny ReduceStd
        ReduceMeanWithCount ReduceStdWithMean ArgMaxWithValue ArgMinWithValue ReduceVar
        ReduceNansum Cumsum Cumulative NLLLoss LpNormReduce LpNormUpdate BiasAddGrad SquareSumV1
        SquareSumAll L2Loss UnsortedSegmentSum SegmentSum NPUClearFloatStatus NPUGetFloatStatus
        NpuGetFloatStatusV2 IsFinite NonFiniteCheck ReduceMaxWithValue CrossEntropyLoss LogSumExp
        Histogram Sort SortWithIndex MaskedReduce MseLoss SumSquare CumsumV2 ArgMaxV2 ForeachNorm
        Reduce CudaReduce reduce_window_sum ReduceLogicalAnd ReduceLogicalOr input_fusion
        sort_reduce""",
    "optimizer": """fused_adam FusedAdam fused_adamw fused_sgd
        amp_foreach_non_finite_check_and_unscale amp_update_scale Adam AdamW AdamWeightDecay
        Momentum Ftrl SGD Lamb RMSProp Adagrad Adadelta FusedEmaAdam ApplyAdam ApplyMomentum
        ApplyFtrl AdamApplyOne AdamApplyOneWithDecay AdamApplyOneAssign LambNextMV
        LambApplyOptimizerAssign FusedMulApplyMomentum ForeachNonFiniteCheckAndUnscale
        fused_adagrad""",
    "rotary": """RotaryEmbedding rotary_embedding RotaryPositionEmbedding apply_rotary_emb
        apply_rotary_pos_emb ApplyRotaryPosEmb npu_rotary_mul RotaryMul InterleaveRope
        RopeWithSinCosCache KvRope Rope RoPE batched_rotary_embedding
        apply_rope_pos_ids_cos_sin_cache apply_rope_with_cos_sin_cache_inplace""",
    "elementwise": """Add Sub Mul Div Pow Sqrt Exp Log Neg Abs Sum Min Max Mean Mod Floor Ceil
        Round Reciprocal Sign Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh And Or Not
        Xor Equal Greater GreaterOrEqual Less LessOrEqual Where IsNaN IsInf BitShift BitwiseAnd
        BitwiseOr BitwiseXor BitwiseNot QLinearAdd QLinearMul Dropout Identity Inverse Square
        Rsqrt Addcmul Addcdiv BiasAdd Affine Scale ImageScaler rsub true_divide floor_divide fmod
        remainder exp2 expm1 log2 log10 log1p maximum minimum fmax fmin eq ne lt le gt ge
        logical_and logical_or logical_not logical_xor isnan isinf isfinite lerp masked_fill sgn
        trunc frac atan2 hypot addcmul addcdiv alpha_dropout dropout_backward feature_dropout
        mse_loss_backward smooth_l1_loss_backward binary_cross_entropy_with_logits
        binary_cross_entropy_backward polar complex real imag conj angle bitwise_left_shift
        bitwise_right_shift nan_to_num heaviside xlogy masked_fill_scalar AccumulateGrad
        foreach_add foreach_mul masked_scale square_ Muls Adds RealDiv Axpy FloorDiv FloorMod
        NotEqual LogicalAnd LogicalOr LogicalNot GreaterEqual LessEqual Maximum Minimum
        SquaredDifference AddN Accumulate AccumulateNV2 AssignAdd AssignSub TensorAdd Select
        SelectV2 MaskedFill MaskedScale DropOutDoMask DropOutDoMaskV3 ForeachAddList
        ForeachAddScalar ForeachMulScalar ForeachMulList ForeachAddcdivList ForeachAddcmulList
        ForeachAddcdivScalar ForeachAddcmulScalar ForeachAddcdivScalarList
        ForeachAddcmulScalarList ForeachSubList ForeachDivList ForeachDivScalar
        ForeachMulScalarList ForeachAddScalarList ForeachDivScalarList ForeachLerpScalar
        ForeachLerpList ForeachPowScalar ForeachPowList ForeachSqrt ForeachMaximumList
        ForeachMinimumList ForeachReciprocal ForeachSigmoid ForeachExp ForeachAbs ForeachNeg
        ForeachZeroInplace ClipByNorm ClipByNormNoDivSum SigmoidCrossEntropyWithLogits
        BCEWithLogitsLoss MseLossGrad SmoothL1Loss BinaryCrossEntropy InvSqrt Inv Rint Truncate
        Sgn Expm1 Log1p Div NoNan DivNoNan Xlogy Lerp AddcmulGrad PowV2 FusedMulAdd FusedMulAddN
        AddScaled BroadcastAdd PointWise ElementWise Unary kgen BinaryElementwise Eltwise
        Subtract Multiply Divide Subgraph PowerStatic Power Math Ceiling Logical Maximum
        loop_fusion non_fusion_elementwise elementwise map xor shift_left shift_right_logical
        shift_right_arithmetic popcnt cbrt logistic is_finite exponential negate power
        exponential_minus_one log_plus_one compare ne""",
    "quantisation": """QuantizeLinear DequantizeLinear DynamicQuantizeLinear quantize_per_tensor
        quantize_per_channel dequantize Dequantize fake_quantize_per_tensor_affine AscendQuant
        AscendDequant AscendAntiQuant DequantBias TransQuantParam QuantizeV2 Quantize
        AscendQuantV2 DynamicQuant DynamicQuantUpdateScatter AscendQuantMax FakeQuantize
        static_scaled_fp8_quant dynamic_scaled_fp8_quant dynamic_per_token_scaled_fp8_quant
        static_scaled_int8_quant dynamic_scaled_int8_quant per_token_group_quant_8bit
        per_token_group_quant_fp8 per_token_group_fp8_quant per_token_quant_fp8
        per_tensor_quant_fp8 scaled_fp4_quant""",
    "kv_cache": """reshape_and_cache ReshapeAndCache reshape_and_cache_flash concat_and_cache_mla
        ScatterPaKvCache GatherPaKvCache KvCache PagedCacheLoad PagedKVCache store_cache
        store_kv_cache append_paged_kv_cache set_kv_buffer copy_blocks swap_blocks gather_cache
        cp_gather_cache""",
    "embedding": """embedding embedding_dense embedding_renorm embedding_backward embedding_bag
        EmbeddingBag EmbeddingBagOffsets EmbeddingBagPacked EmbeddingSegmentsSum
        EmbeddingDenseGrad EmbeddingLookup EmbeddingTable""",
    "data_movement": """Concat Split Slice Gather GatherElements GatherND Scatter ScatterElements
        ScatterND Pad Expand Tile Resize Upsample GridSample Compress OneHot NonZero Unique Range
        ConstantOfShape Constant QLinearConcat StridedSlice Trilu EyeLike ReverseSequence
        CropAndResize NonMaxSuppression Size Shape RandomNormal RandomUniform RandomNormalLike
        RandomUniformLike Bernoulli SpaceToDepth DepthToSpace Col2Im CenterCropPad cat stack
        split_with_sizes select narrow unbind chunk index index_select index_put index_put_impl
        index_copy index_add index_fill scatter_add scatter_reduce masked_select masked_scatter
        take take_along_dim fill fill_scalar zero zeros ones full new_zeros new_ones new_empty
        new_full zeros_like ones_like full_like empty empty_like empty_strided
        empty_memory_format resize arange linspace eye repeat repeat_interleave roll flip rot90
        tril triu constant_pad_nd reflection_pad1d reflection_pad2d replication_pad1d
        replication_pad2d replication_pad3d upsample_nearest1d upsample_nearest2d
        upsample_nearest3d upsample_bilinear2d upsample_bicubic2d upsample_linear1d
        upsample_trilinear3d interpolate grid_sampler grid_sampler_2d grid_sampler_3d
        affine_grid_generator pixel_shuffle pixel_unshuffle normal uniform rand randn randint
        randperm random exponential_ cauchy geometric item local_scalar_dense select_backward
        slice_backward slice_scatter select_scatter diagonal diag cartesian_prod meshgrid
        broadcast_to expand_as broadcast_tensors unfold is_pinned set set_data record_stream
        unfold_backward Fill Fills BroadcastTo BroadcastToD Index IndexPut IndexPutImpl AsStrided
        StridedSliceGrad StridedSliceAssign SliceGrad Pack Unpack SplitVD Tril Triu ZerosLike
        OnesLike DSAGenBitMask DSAStatelessGenBitMask DSARandomUniform DSARandomNormal
        DSARandomTruncatedNormal StatelessDropOutGenMask DropOutGenMask DropOutGenMaskV3
        StatelessRandomNormal StatelessRandomUniform StatelessBernoulli PadV3 GatherElementsV2
        ScatterUpdate ScatterNdUpdate ScatterAdd ScatterNdAdd ScatterList InplaceUpdate
        InplaceIndexAdd MaskedSelect MaskedScatter ResizeBilinear ResizeNearestNeighbor
        ResizeNearestNeighborV2 ResizeGrad ResizeBicubic UpsampleNearest UpsampleNearest3d
        UpsampleBilinear2d UpsampleTrilinear3d UpsampleBicubic2d GridSampler2D GridSampler3D
        Assign ConcatOffset SplitV ConcatV2 SparseGatherV2 RepeatInterleave Roll ReverseV2
        Reverse MirrorPad LinSpace ReadVariableOp VariableV2 Data NetOutput IndexByTensor PadD
        GatherNdV2 LogSpace GenerateEodMask DropoutWithByteMask Concatenation Padding Slicing
        EfficientNMS NMS ROIPlugin Assertion OneHotEncoding Input Output Const Parameter Result
        ScatterUpdate VariadicSplit GatherTree Broadcast Roll MemoryInput MemoryOutput ShapeOf
        CTCGreedyDecoder DetectionOutput PriorBox Proposal ExtractImagePatches ReadValue
        StridedSliceLayer Bucketize dynamic_slice dynamic_update_slice concatenate iota rng
        rng_bit_generator rng_uniform infeed outfeed pad_fusion gather_fusion scatter_fusion
        slice_fusion rev stop_gradient stage""",
    "copy": """Memcpy Memset MemSet copy Copy clone contiguous lift_fresh foreach_copy
        ForeachCopy pin_memory TensorMove AtomicAddrClean ViewCopy MemcpyFromHost MemcpyToHost
        copy_start copy_done device_put""",
    "cast": """Cast CastLike to _to_copy to_copy type_as convert_element_type float half Convert
        ConvertLike ConvertTruncation CastLayer reduce_precision""",
    "layout": """Reshape Transpose Squeeze Unsqueeze Flatten ReorderInput ReorderOutput Im2col
        view unsafe_view view_as permute t swapaxes movedim detach alias as_strided reshape_alias
        expand_dims unflatten ravel numpy_T mT adjoint im2col col2im transpose_copy view_as_real
        view_as_complex npu_format_cast channel_shuffle result_type TransData TransDataRNN
        TransposeBatch TransposeNCHW TransShape Confusion ConfusionTranspose FormatTransfer
        Bitcast NpuFormatCast PermuteV2 SqueezeV2 UnsqueezeV2 FlattenV2 Reformat Reformatting
        ReformatCopy Shuffle NoOp Shuffling Reorder DataFormatting data_formatting
        bitcast_convert reshape_fusion transpose_fusion""",
    "communication": """HcclAllReduce HcclAllGather HcclReduceScatter HcclBroadcast HcclSend
        HcclReceive AllReduce AllGather AllToAll ReduceScatter NcclAllReduce AllToAllV AllToAllVC
        HcomAllReduce HcomAllGather HcomReduceScatter HcomBroadcast HcomSend HcomReceive
        HcomAllToAll HcomAllToAllV HcomAllToAllVC HcomReduce HcomBarrier HcomBatchSendRecv
        AllGatherBase ReduceScatterBase Send Recv SendRecv allreduce_coalesced
        allgather_into_tensor reduce_scatter_tensor all_to_all_single collective_permute
        collective_permute_start collective_permute_done all_reduce_start all_reduce_done
        all_gather_start all_gather_done reduce_scatter_start collective_broadcast recv_done
        send_done all_gather_into_tensor reduce_scatter_tensor_coalesced NcclAllGather
        NcclReduceScatter NcclAllToAll ragged_all_to_all alltoall_base""",
}  # fmt: skip
