"""Modules of Hugging Face as people have them, for `fusescope collect` (docs/engines.md).

Small and with random weights, so nothing is fetched. Needs torch and transformers:

    fusescope runtimes use torch --python PYTHON --name hf
    fusescope collect hugging_face.py:decode --runtime torch@hf
"""

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    LlamaConfig,
    LlamaForCausalLM,
    StaticCache,
)

_SIZES = {"vocab_size": 1000, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}


def bert():
    """An encoder; its inputs are given with --input input_ids=1,32:int64."""
    return BertModel(BertConfig(**_SIZES, intermediate_size=128))


def decode():
    """One token of a decoder behind 31 others, with a cache of a fixed size that holds them."""
    model = LlamaForCausalLM(LlamaConfig(**_SIZES, intermediate_size=128, num_key_value_heads=2))
    cache = StaticCache(config=model.config, max_cache_len=64)
    with torch.no_grad():
        model(input_ids=torch.arange(31)[None], past_key_values=cache, use_cache=True)
    step = {"input_ids": torch.tensor([[31]]), "past_key_values": cache, "use_cache": True}
    return model.eval(), step


def train():
    """A training step of a classifier, whose loss the module computes itself."""
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    config = BertConfig(**_SIZES, intermediate_size=128, **no_dropout)
    return {
        "module": BertForSequenceClassification(config),
        "inputs": {
            "input_ids": torch.randint(0, 1000, (4, 32)),
            "labels": torch.randint(0, 2, (4,)),
        },
        "optimizer": lambda weights: torch.optim.AdamW(weights, lr=1e-4),
    }
