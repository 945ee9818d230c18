# SPDX-License-Identifier: Apache-2.0
"""Transformers as onnxruntime.transformers fuses them, in float32, in float16 and dynamically quantised."""

import pathlib
import tempfile

import onnx
import onnxruntime
import transformers as t
from onnxruntime import quantization
from onnxruntime.transformers import optimizer

import converted_models
import suite
import torch_export
import torch_transformers as tt
from suite import i

onnxruntime.set_default_logger_severity(4)
MASKED = [[i(50, 2, 7), tt.mask(2, 7)], [i(50, 3, 12), tt.mask(3, 12)]]  # fused masks count from the left
EAGER = {"attention": "eager"}
ROWS = {
    "bert": ("bert", tt.text(t.BertModel, t.BertConfig, types=True, max_position_embeddings=64, **EAGER, **tt.TINY),
        [[*row, i(2, *row_shape)] for row, row_shape in zip(MASKED, ((2, 7), (3, 12)))]),
    "bert_sdpa": ("bert", tt.text(t.BertModel, t.BertConfig, types=True, max_position_embeddings=64, **tt.TINY),
        [[*row, i(2, *row_shape)] for row, row_shape in zip(MASKED, ((2, 7), (3, 12)))]),
    "roberta": ("bert", tt.text(t.RobertaModel, t.RobertaConfig, max_position_embeddings=64, **EAGER, **tt.TINY), MASKED),
    "distilbert": ("bert", tt.text(t.DistilBertModel, t.DistilBertConfig, dim=32, n_layers=2, n_heads=4, hidden_dim=48,
        vocab_size=50,
                                   max_position_embeddings=64, **EAGER), MASKED),
    "gpt2": ("gpt2", tt.decoder(t.GPT2LMHeadModel, t.GPT2Config, **EAGER, **tt.GPT2, **tt.NO_END), tt.steps(4)),
    "llama": ("gpt2", tt.decoder(t.LlamaForCausalLM, t.LlamaConfig, **EAGER, **tt.CAUSAL), tt.steps(2)),
    "t5": ("t5", tt.text(t.T5EncoderModel, t.T5Config, vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4),
        MASKED),
    "bart": ("bart", lambda: tt.Whole(tt.made(t.BartForConditionalGeneration, t.BartConfig, **tt.BART)), tt.BOTH),
    "vit": ("vit", tt.of("pixel_values", tt.HIDDEN, t.ViTModel, t.ViTConfig, **EAGER, **tt.VISION), tt.PIXELS),
    "clip": ("clip", tt.of("pixel_values", tt.HIDDEN, t.CLIPVisionModel, t.CLIPVisionConfig, **EAGER, **tt.VISION), tt.PIXELS),
    "swin": ("swin", tt.OTHERS[5][1], tt.PIXELS),
}


def fused(name, exporter="script", level=0, **options):
    kind, make, sets = ROWS[name]
    case = torch_export.case(f"fused_{name}", make, sets, exporter)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        path.write_bytes(case.model)
        model = optimizer.optimize_model(str(path), model_type=kind, num_heads=4, hidden_size=32, opt_level=level, **options)
        model.save_model_to_file(str(path))  # which names the domains that it uses
    return model, case.sets


def plain(name, *arguments):
    model, sets = fused(name, *arguments)
    return suite.Case(model.model, sets)


def half(name):
    model, sets = fused(name)
    model.convert_float_to_float16(keep_io_types=True)
    return suite.Case(model.model, sets, "float16")


def quantised(name):
    model, sets = fused(name)
    made = converted_models.through_files(model.model, lambda before, after: quantization.quantize_dynamic(
        before, after, weight_type=quantization.QuantType.QInt8, extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT}))
    return suite.Case(made, sets, "quantised")


def models():
    for name in ROWS:
        yield name, lambda n=name: plain(n)
        yield f"{name}_level_1", lambda n=name: plain(n, "script", 1)
        if name != "gpt2":  # the fusion of its other form ends with an exception
            yield f"{name}_dynamo", lambda n=name: plain(n, "dynamo")
        yield f"{name}_half", lambda n=name: half(n)
        yield f"{name}_dynamic", lambda n=name: quantised(n)
