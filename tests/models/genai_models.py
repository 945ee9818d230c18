# SPDX-License-Identifier: Apache-2.0
"""Language models as onnxruntime-genai's builder writes them: GroupQueryAttention with caches, rotary embeddings, fused norms,
experts, weights of 4 and 8 bits in blocks, 16-bit activations. Each is called on a prompt and on a next step."""

import pathlib
import tempfile

import numpy as np
import onnx
import torch
import transformers as t
from onnxruntime_genai.models import builder
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

import suite
from torch_transformers import spread

WORDS = 64
BASE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96,
    "vocab_size": WORDS,
        "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "head_dim": 16}
TYPES = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16}

ROWS = {
    "llama": (t.LlamaForCausalLM, t.LlamaConfig, BASE),
    "llama_tied": (t.LlamaForCausalLM, t.LlamaConfig, {**BASE, "tie_word_embeddings": True}),
    "llama_scaled": (t.LlamaForCausalLM, t.LlamaConfig, {**BASE, "rope_parameters": {
        "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}}),
    "mistral": (t.MistralForCausalLM, t.MistralConfig, {**BASE, "sliding_window": 6}),
    "phi3": (t.Phi3ForCausalLM, t.Phi3Config, {**BASE, "original_max_position_embeddings": 64}),
    "qwen2": (t.Qwen2ForCausalLM, t.Qwen2Config, BASE),
    "qwen3": (t.Qwen3ForCausalLM, t.Qwen3Config, BASE),
    "gemma": (t.GemmaForCausalLM, t.GemmaConfig, BASE),
    "gemma2": (t.Gemma2ForCausalLM, t.Gemma2Config, {**BASE, "sliding_window": 6, "query_pre_attn_scalar": 16}),
    "granite": (t.GraniteForCausalLM, t.GraniteConfig,
        {**BASE, "attention_multiplier": 0.2, "residual_multiplier": 0.5, "embedding_multiplier": 2.0, "logits_scaling": 3.0}),
    "olmo": (t.OlmoForCausalLM, t.OlmoConfig, BASE),
    "nemotron": (t.NemotronForCausalLM, t.NemotronConfig, {**BASE, "head_dim": 32}),
    "smollm3": (t.SmolLM3ForCausalLM, t.SmolLM3Config, BASE),
    "ernie": (t.Ernie4_5ForCausalLM, t.Ernie4_5Config, BASE),
    "convolutions": (t.Lfm2ForCausalLM, t.Lfm2Config, {**BASE, "layer_types": ["conv", "full_attention"], "conv_L_cache": 3}),
    "convolutions_experts": (t.Lfm2MoeForCausalLM, t.Lfm2MoeConfig,
        {**BASE, "layer_types": ["conv", "full_attention"], "conv_L_cache": 3, "num_experts": 4,
                                                                     "num_experts_per_tok": 2, "moe_intermediate_size": 32, "num_dense_layers": 1}),
}
# Sequences, new tokens, tokens in the cache. A cache of a window is as long as it.
CALLS = ((1, 5, 0), (2, 7, 0), (1, 1, 9), (2, 1, 4))
CALLS_OF_WINDOW = ((1, 1, 6), (2, 1, 6), (1, 3, 6))


def written(kind, config, parameters, folder):
    config = config(**parameters)
    model = spread(kind(config))
    model.config.architectures = [kind.__name__]
    model.save_pretrained(folder)
    words = Tokenizer(WordLevel({str(number): number for number in range(WORDS)}, unk_token="0"))
    t.PreTrainedTokenizerFast(tokenizer_object=words).save_pretrained(folder)


def built(row, precision, options, folder):
    before, after = str(folder / "before"), str(folder / "after")
    written(*row, before)
    arguments = ("", before, after, precision, "cpu", str(folder / "cache"))
    builder.create_model(*arguments, **builder.parse_extra_options(*arguments, options))
    return onnx.load(f"{after}/model.onnx")


def step(model, parameters, batch, new, old, random):
    """Inputs of a call: the mask covers what the cache holds and the new tokens."""
    data = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        if value.name == "attention_mask":
            data[value.name] = np.ones((batch, old + new), np.int64)
        elif value.name == "position_ids":
            data[value.name] = np.tile(np.arange(old, old + new), (batch, 1))
        elif value.name == "input_ids":
            data[value.name] = random.integers(0, WORDS, (batch, new))
        else:
            shape = (batch, parameters["num_key_value_heads"], old, parameters["head_dim"])
            if len(kind.shape.dim) == 3:  # what a convolution has seen
                shape = (batch, *(dim.dim_value for dim in kind.shape.dim[1:]))
            data[value.name] = random.standard_normal(shape).astype(TYPES[kind.elem_type])
    return data


def case(name, precision, options=(), rule="float32"):
    torch.manual_seed(suite.seed_of(name))
    with tempfile.TemporaryDirectory() as folder:
        model = built(ROWS[name], precision, list(options), pathlib.Path(folder))
    random = np.random.default_rng(suite.seed_of(name))
    calls = CALLS_OF_WINDOW if name == "gemma2" else CALLS
    sets = [step(model, ROWS[name][2], *call, random) for call in calls]
    return suite.Case(model, sets, rule)


def models():
    for name in ROWS:
        if "experts" not in name:
            yield name, lambda n=name: case(n, "fp32")
        yield f"{name}_four_bits", lambda n=name: case(n, "int4", (), "quantised")
    for name in ("llama", "qwen3", "gemma2"):
        yield f"{name}_four_bits_16", lambda n=name: case(n, "int4", ("int4_block_size=16", "int4_is_symmetric=false"), "quantised")
        yield f"{name}_four_bits_level_1", lambda n=name: case(n, "int4", ("int4_accuracy_level=1",), "quantised")
        if name != "gemma2":  # its table of words has no such form
            yield f"{name}_four_bits_blocks", lambda n=name: case(n, "int4", ("use_qdq=true",), "quantised")
        yield f"{name}_eight_bits", lambda n=name: case(n, "int8", (), "quantised")
        yield f"{name}_hidden_states", lambda n=name: case(n, "fp32", ("include_hidden_states=true",))
