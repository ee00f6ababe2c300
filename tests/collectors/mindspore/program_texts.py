"""Programs as MindSpore 2.10.0 writes them (graph_build_0_*.ir), without what is not read."""

from __future__ import annotations

# x · 2 + 1 in one graph kernel.
FUSED = """# IR entry: @kernel_graph0
# Total subgraphs: 2

# Params:
%para1_x: <Tensor[Float32], (1, 64, 128, 128)> : [1, 64, 128, 128]  :  <Float32xDefaultFormat[const vector]{1, 64, 128, 128}>  :  IsWeight: false

subgraph attr:
IsFeatureMapOutput: 1
info_name: Fused_Mul_Add_fusion_16913588634434487990
graph_kernel: Mul_Add_fusion
subgraph instance: seg_trans__anonymous__26 : 0x56210d636ac0
# Parameters: 1, (<Tensor[Float32], (1, 64, 128, 128)>)

subgraph @seg_trans__anonymous__26(%para2_Parameter_28) {
  %0(seg_trans_CNode_27) = PrimFunc_Mul(%para2_Parameter_28, Tensor(shape=[], dtype=Float32, value=2)) {instance name: mul} primitive_attrs: {IsFeatureMapInputList: (0, 1)} cnode_attrs: {checkpoint: Bool(1)}
      : (<Tensor[Float32], (1, 64, 128, 128)>, <Tensor[Float32], (), value=...>) -> (<Tensor[Float32], (1, 64, 128, 128)>)
      # Fullname with scope: (Default/Mul-op0)
      # In file /home/me/net.py:11, 4~63/    def construct(self,x): return self.add(self.mul(x,2.0),1.0)/
      # In file /home/me/net.py:12, 43~58/    def construct(self,x): return self.add(self.mul(x,2.0),1.0)/
  %1(seg_trans_CNode_29) = PrimFunc_Add(%0, Tensor(shape=[], dtype=Float32, value=1)) {instance name: add}
      : (<Tensor[Float32], (1, 64, 128, 128)>, <Tensor[Float32], (), value=...>) -> (<Tensor[Float32], (1, 64, 128, 128)>)
      # Fullname with scope: (Default/Add-op0)
  Return(%1)
      : (<Tensor[Float32], (1, 64, 128, 128)>)
      # Fullname with scope: (Default/Return-op0)
}


subgraph attr:
enable_zero_copy_in_graph: 1
subgraph instance: kernel_graph0 : 0x56210d62d6e0

subgraph @kernel_graph0() {
  %0(CNode_30) = call @seg_trans__anonymous__26(%para1_x)
      : (<Tensor[Float32], (1, 64, 128, 128)>) -> (<Tensor[Float32], (1, 64, 128, 128)>)
      # Fullname with scope: (Default/GraphKernel_Mul_Add_fusion-op0)
  %1(CNode_24) = MakeTuple(%0) cnode_attrs: {is_dynamic_len: Bool(0)}
      : (<Tensor[Float32], (1, 64, 128, 128)>) -> (<Tuple[Tensor[Float32]], TupleShape((1, 64, 128, 128))>)
      # Fullname with scope: (Default/MakeTuple-op0)
  Return(%1)
      : (<Tuple[Tensor[Float32]], TupleShape((1, 64, 128, 128))>)
      # Fullname with scope: (Default/Return-op1)
}
"""  # noqa: E501
# The same, graph kernels off.
UNFUSED = """# IR entry: @kernel_graph0

# Params:
%para1_x: <Tensor[Float32], (1, 64, 128, 128)> : [1, 64, 128, 128]  :  IsWeight: false

subgraph attr:
subgraph @kernel_graph0() {
  %0(CNode_21) = PrimFunc_Mul(%para1_x, Tensor(shape=[], dtype=Float32, value=2)) {instance name: mul}
      # Fullname with scope: (Default/Mul-op0)
      # In file /home/me/net.py:12, 43~58/    def construct(self,x): return self.add(self.mul(x,2.0),1.0)/
  %1(CNode_22) = PrimFunc_Add(%0, Tensor(shape=[], dtype=Float32, value=1)) {instance name: add}
      # Fullname with scope: (Default/Add-op0)
  %2(CNode_24) = MakeTuple(%1)
      # Fullname with scope: (Default/MakeTuple-op0)
  Return(%2)
      # Fullname with scope: (Default/Return-op1)
}
"""  # noqa: E501
# A normalisation with weights, of which one of three outputs is read, and GeLU in parts.
PARTS = """# IR entry: @kernel_graph0

# Params:
%para1_block.gamma: <Ref[Tensor[Float32]], (8), ref_key=block.gamma, is_parameter>  :  has_default  :  IsWeight: true
%para2_x: <Tensor[Float32], (2, 8)> : [2, 8]  :  IsWeight: false

subgraph attr:
info_name: Fused_BiasAdd_GeLU_fusion_7
graph_kernel: BiasAdd_GeLU_fusion
subgraph @_anonymous__838(%para17_Parameter_826, %para18_Parameter_827) {
  %0(CNode_825) = PrimFunc_Add(%para17_Parameter_826, %para18_Parameter_827) cnode_attrs: {expand_from: "BiasAdd", is_dynamic_len: Bool(0)}
      # Fullname with scope: (Default/Add-op1)
  %1(CNode_828) = PrimFunc_Mul(%0, %0) cnode_attrs: {expand_from: "GeLU"}
      # Fullname with scope: (Default/Mul-op0)
  %2(CNode_830) = PrimFunc_Tanh(%1) cnode_attrs: {expand_from: "GeLU"}
      # Fullname with scope: (Default/Tanh-op0)
  Return(%2)
      # Fullname with scope: (Default/Return-op1)
}


subgraph attr:
subgraph @kernel_graph0() {
  %0(CNode_1) = Load(%para1_block.gamma, UMonad[U])
      # Fullname with scope: (Default/Load-op0)
  %1(CNode_2) = PrimFunc_LayerNorm(%para2_x, %0, %0, I64(-1), F32(1e-07)) primitive_attrs: {text: "a) %9"}
      # Fullname with scope: (Default/block-Block/norm-LayerNorm/LayerNorm-op0)
  %2(y) = TupleGetItem(%1, I64(0))
      # Fullname with scope: (Default/block-Block/norm-LayerNorm/TupleGetItem-op0)
  %3(CNode_3) = UpdateState(UMonad[U], %2)
      # Fullname with scope: (Default/UpdateState-op0)
  %4(CNode_4) = call @_anonymous__838(%2, %0)
      # Fullname with scope: (Default/GraphKernel_BiasAdd_GeLU_fusion-op0)
  %5(CNode_5) = Depend(%4, %3)
      # Fullname with scope: (Default/Depend-op0)
  Return(%5)
      # Fullname with scope: (Default/Return-op2)
}
"""  # noqa: E501
