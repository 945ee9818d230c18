# SPDX-License-Identifier: Apache-2.0
"""Transformers of the package `transformers`, tiny and with random weights: encoders, decoders with and without caches of
keys and values, encoders with decoders, images and sound."""

import numpy as np
import transformers as t
from torch import nn

import torch_export
from suite import f, i, u

TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 50}
CAUSAL = {**TINY, "num_key_value_heads": 2, "max_position_embeddings": 64}


def mask(batch, length, padded=0):
    """Ones, but for the first tokens of the last row."""
    def draw(random):
        ones = np.ones((batch, length), np.int64)
        ones[-1, :padded] = 0
        return ones
    return draw


def spread(model):
    """Weights larger than the usual first ones, so that attention is not uniform."""
    for part in model.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            nn.init.normal_(part.weight, std=0.3)
    return model.eval()


def made(kind, config, attention="sdpa", **parameters):
    config = config(**parameters)
    config._attn_implementation = attention
    config._experts_implementation = "eager"
    return spread(kind(config))


class Named(nn.Module):
    """A model of inputs with names, of which some outputs are taken."""

    def __init__(self, model, names, outputs):
        super().__init__()
        self.model, self.names, self.outputs = model, names, outputs

    def forward(self, *arguments):
        result = self.model(**dict(zip(self.names, arguments)), return_dict=True)
        return tuple(result[name] for name in self.outputs)


def text(kind, config, outputs=("last_hidden_state",), types=False, **parameters):
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * types
    return lambda: Named(made(kind, config, **parameters), names, outputs)


TEXTS = [[i(50, 2, 7), mask(2, 7, 2)], [i(50, 3, 12), mask(3, 12, 5)], [i(50, 1, 4), mask(1, 4)]]
TYPED = [[i(50, 2, 7), mask(2, 7, 2), i(2, 2, 7)], [i(50, 3, 12), mask(3, 12, 5), i(2, 3, 12)]]

ENCODERS = [
    ("bert", text(t.BertModel, t.BertConfig, types=True, max_position_embeddings=64, **TINY), TYPED),
    ("bert_eager", text(t.BertModel, t.BertConfig, types=True, attention="eager", max_position_embeddings=64, **TINY), TYPED),
    ("bert_classes", text(t.BertForSequenceClassification, t.BertConfig, ["logits"], max_position_embeddings=64, **TINY), TEXTS),
    ("bert_answers", text(t.BertForQuestionAnswering, t.BertConfig, ["start_logits", "end_logits"], max_position_embeddings=64,
     **TINY), TEXTS),
    ("bert_words", text(t.BertForMaskedLM, t.BertConfig, ["logits"], max_position_embeddings=64, **TINY), TEXTS),
    ("roberta", text(t.RobertaModel, t.RobertaConfig, max_position_embeddings=64, **TINY), TEXTS),
    ("distilbert", text(t.DistilBertModel, t.DistilBertConfig, dim=32, n_layers=2, n_heads=4, hidden_dim=48, vocab_size=50,
     max_position_embeddings=64), TEXTS),
    ("albert", text(t.AlbertModel, t.AlbertConfig, embedding_size=16, max_position_embeddings=64, **TINY), TEXTS),
    ("electra", text(t.ElectraModel, t.ElectraConfig, embedding_size=16, max_position_embeddings=64, **TINY), TEXTS),
    ("mpnet", text(t.MPNetModel, t.MPNetConfig, attention="eager", max_position_embeddings=64, **TINY), TEXTS, "script"),
    ("modernbert", text(t.ModernBertModel, t.ModernBertConfig, max_position_embeddings=64, global_attn_every_n_layers=2,
     local_attention=8, pad_token_id=0,
                        bos_token_id=1, cls_token_id=1, sep_token_id=2, eos_token_id=2, **TINY), TEXTS),
    ("deberta", text(t.DebertaV2Model, t.DebertaV2Config, attention="eager", max_position_embeddings=64, relative_attention=True,
     pos_att_type=["p2c", "c2p"],
                     position_buckets=8, **TINY), TEXTS, "script"),
    ("t5_encoder", text(t.T5EncoderModel, t.T5Config, vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4),
     TEXTS),
    ("clip_text", text(t.CLIPTextModel, t.CLIPTextConfig, max_position_embeddings=64, **TINY), TEXTS),
]


def layers_of(cache):
    return [part for layer in cache.layers for part in (layer.keys, layer.values)]


class Decoder(nn.Module):
    """One step with a cache: tokens, a mask over old and new ones, keys and values of each layer."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask, k0, v0, k1, v1):
        cache = t.DynamicCache()
        cache.update(k0, v0, 0)
        cache.update(k1, v1, 1)
        result = self.model(input_ids=tokens, attention_mask=mask, past_key_values=cache, use_cache=True, return_dict=True)
        return (result.logits, *layers_of(result.past_key_values))


def step(batch, new, old, heads, padded=0, size=8):
    return [i(50, batch, new), mask(batch, new + old, padded)] + [f(batch, heads, old, size) for _ in range(4)]


def steps(heads, size=8):
    return [step(2, 3, 5, heads, 2, size), step(3, 2, 9, heads, 4, size), step(1, 6, 2, heads, 0, size)]


def decoder(kind, config, **parameters):
    return lambda: Decoder(made(kind, config, **parameters))


GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 50, "n_positions": 64}
NO_END = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}

DECODERS = [
    ("gpt2", decoder(t.GPT2LMHeadModel, t.GPT2Config, **GPT2, **NO_END), steps(4)),
    ("gpt2_eager", decoder(t.GPT2LMHeadModel, t.GPT2Config, attention="eager", **GPT2, **NO_END), steps(4)),
    ("llama", decoder(t.LlamaForCausalLM, t.LlamaConfig, **CAUSAL), steps(2)),
    ("llama_eager", decoder(t.LlamaForCausalLM, t.LlamaConfig, attention="eager", **CAUSAL), steps(2)),
    ("mistral", decoder(t.MistralForCausalLM, t.MistralConfig, sliding_window=6, **CAUSAL), steps(2)),
    ("qwen2", decoder(t.Qwen2ForCausalLM, t.Qwen2Config, **CAUSAL), steps(2)),
    ("qwen3", decoder(t.Qwen3ForCausalLM, t.Qwen3Config, head_dim=8, **CAUSAL), steps(2)),
    ("gemma2", decoder(t.Gemma2ForCausalLM, t.Gemma2Config, attention="eager", head_dim=8, sliding_window=6, **CAUSAL), steps(2)),
    ("phi", decoder(t.PhiForCausalLM, t.PhiConfig, **CAUSAL), steps(2)),
    ("neox", decoder(t.GPTNeoXForCausalLM, t.GPTNeoXConfig, max_position_embeddings=64, **TINY), steps(4)),
    ("opt", decoder(t.OPTForCausalLM, t.OPTConfig, ffn_dim=48, word_embed_proj_dim=32, max_position_embeddings=64,
                    **{key: value for key, value in TINY.items() if key != "intermediate_size"}), steps(4)),
    ("bloom", decoder(t.BloomForCausalLM, t.BloomConfig, attention="eager", hidden_size=32, n_layer=2, n_head=4, vocab_size=50), steps(4)),
    ("granite", decoder(t.GraniteForCausalLM, t.GraniteConfig, **CAUSAL), steps(2)),
    ("smollm3", decoder(t.SmolLM3ForCausalLM, t.SmolLM3Config, pad_token_id=0, **CAUSAL), steps(2)),
]


class FirstStep(nn.Module):
    """All tokens at once, giving a cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, mask):
        result = self.model(input_ids=tokens, attention_mask=mask, use_cache=True, return_dict=True)
        return (result.logits, *layers_of(result.past_key_values))


PROMPTS = [
    ("gpt2_prompt", lambda: FirstStep(made(t.GPT2LMHeadModel, t.GPT2Config, **GPT2, **NO_END)), TEXTS),
    ("llama_prompt", lambda: FirstStep(made(t.LlamaForCausalLM, t.LlamaConfig, **CAUSAL)), TEXTS),
    ("gemma_prompt", lambda: FirstStep(made(t.GemmaForCausalLM, t.GemmaConfig, head_dim=8, **CAUSAL)), TEXTS),
]


class CrossDecoder(nn.Module):
    """The decoder of a model with an encoder, without a cache."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, hidden):
        outputs = t.modeling_outputs.BaseModelOutput(last_hidden_state=hidden)
        return self.model(decoder_input_ids=tokens, encoder_outputs=outputs, use_cache=False, return_dict=True).logits


class Whole(nn.Module):
    """Encoder and decoder in one."""

    def __init__(self, model, name="input_ids"):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, source, tokens):
        return self.model(**{self.name: source}, decoder_input_ids=tokens, use_cache=False, return_dict=True).logits


T5 = {"vocab_size": 50, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
BART = {"vocab_size": 50, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 64, **NO_END, "decoder_start_token_id": 2}
WHISPER = {"vocab_size": 50, "num_mel_bins": 16, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
    "encoder_attention_heads": 4,
           "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_source_positions": 30, "max_target_positions": 30,
           **NO_END, "decoder_start_token_id": 1}
BOTH = [[i(50, 2, 7), i(50, 2, 5)], [i(50, 3, 12), i(50, 3, 4)]]
CROSS = [[i(50, 2, 7), f(2, 9, 32)], [i(50, 3, 4), f(3, 11, 32)]]

PAIRS = [
    ("t5", lambda: Whole(made(t.T5ForConditionalGeneration, t.T5Config, **T5)), BOTH),
    ("t5_decoder", lambda: CrossDecoder(made(t.T5ForConditionalGeneration, t.T5Config, **T5)), CROSS),
    ("bart", lambda: Whole(made(t.BartForConditionalGeneration, t.BartConfig, **BART)), BOTH),
    ("bart_decoder", lambda: CrossDecoder(made(t.BartForConditionalGeneration, t.BartConfig, **BART)), CROSS),
    ("marian", lambda: Whole(made(t.MarianMTModel, t.MarianConfig, **BART)), BOTH),
    ("whisper", lambda: Whole(made(t.WhisperForConditionalGeneration, t.WhisperConfig, **WHISPER), "input_features"),
     [[f(2, 16, 60), i(50, 2, 5)], [f(3, 16, 60), i(50, 3, 9)]], "dynamo"),
    ("whisper_decoder", lambda: CrossDecoder(made(t.WhisperForConditionalGeneration, t.WhisperConfig, **WHISPER)), CROSS, "dynamo"),
]


def of(name, outputs, kind, config, **parameters):
    return lambda: Named(made(kind, config, **parameters), [name], outputs)


VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "image_size": 32,
    "patch_size": 8}
PIXELS = [[u(2, 3, 32, 32)], [u(3, 3, 32, 32)]]
HIDDEN = ["last_hidden_state"]
SPEECH = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48, "conv_dim": (16, 16),
    "conv_stride": (5, 4),
          "conv_kernel": (10, 8), "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4, "vocab_size": 20}
SOUND = [[f(2, 800)], [f(1, 1200)]]

OTHERS = [
    ("vit", of("pixel_values", HIDDEN, t.ViTModel, t.ViTConfig, **VISION), PIXELS),
    ("deit", of("pixel_values", HIDDEN, t.DeiTModel, t.DeiTConfig, **VISION), PIXELS),
    ("dinov2", of("pixel_values", HIDDEN, t.Dinov2Model, t.Dinov2Config, **VISION), PIXELS),
    ("clip_vision", of("pixel_values", [*HIDDEN, "pooler_output"], t.CLIPVisionModel, t.CLIPVisionConfig, **VISION), PIXELS),
    ("siglip", of("pixel_values", HIDDEN, t.SiglipVisionModel, t.SiglipVisionConfig, **VISION), PIXELS),
    ("swin", of("pixel_values", HIDDEN, t.SwinModel, t.SwinConfig, image_size=32, patch_size=4, embed_dim=16, depths=[2, 2],
     num_heads=[2, 2], window_size=4), PIXELS),
    ("convnext", of("pixel_values", HIDDEN, t.ConvNextModel, t.ConvNextConfig, attention="eager", hidden_sizes=[8, 16],
     depths=[1, 1], num_stages=2), PIXELS),
    ("segformer", of("pixel_values", ["logits"], t.SegformerForSemanticSegmentation, t.SegformerConfig, num_encoder_blocks=2,
     depths=[1, 1], sr_ratios=[2, 1],
                     hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2,
                         2], decoder_hidden_size=16), PIXELS),
    ("wav2vec2", of("input_values", ["logits"], t.Wav2Vec2ForCTC, t.Wav2Vec2Config, **SPEECH), SOUND),
    ("hubert", of("input_values", HIDDEN, t.HubertModel, t.HubertConfig, **SPEECH), SOUND),
    ("mamba", of("input_ids", ["logits"], t.MambaForCausalLM, t.MambaConfig, attention="eager", vocab_size=50, hidden_size=32,
     num_hidden_layers=2, state_size=4, use_cache=False),
     [[i(50, 2, 6)], [i(50, 3, 6)]]),
    ("xlm_roberta", of("input_ids", ["logits"], t.XLMRobertaForTokenClassification, t.XLMRobertaConfig, max_position_embeddings=64,
     **TINY), [[i(50, 2, 6)], [i(50, 3, 9)]]),
]


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 20,
    "max_position_embeddings": 16}


def small_step(batch, new, old, heads):
    return [i(20, batch, new), mask(batch, new + old)] + [f(batch, heads, old, 8) for _ in range(4)]


# Small enough to be committed.
COMMITTED = [
    ("small_bert", text(t.BertModel, t.BertConfig, **SMALL), [[i(20, 2, 5), mask(2, 5, 1)], [i(20, 1, 7), mask(1, 7)]], "script"),
    ("small_gpt2", decoder(t.GPT2LMHeadModel, t.GPT2Config, n_embd=16, n_layer=2, n_head=2, vocab_size=20, n_positions=16,
     **NO_END),
     [small_step(2, 3, 4, 2), small_step(1, 2, 6, 2)], "script"),
    ("small_llama", decoder(t.LlamaForCausalLM, t.LlamaConfig, num_key_value_heads=1, **SMALL),
     [small_step(2, 3, 4, 1), small_step(3, 2, 6, 1)]),
    ("small_t5", lambda: Whole(made(t.T5ForConditionalGeneration, t.T5Config, vocab_size=20, d_model=16, d_kv=8, d_ff=16,
     num_layers=1, num_heads=2,
                                    relative_attention_num_buckets=8, decoder_start_token_id=0)), [[i(20, 2, 5), i(20, 2,
                                        3)], [i(20, 1, 4), i(20, 1, 6)]], "script"),
]


def models():
    yield from torch_export.cases(COMMITTED + ENCODERS + DECODERS + PROMPTS + PAIRS + OTHERS)
