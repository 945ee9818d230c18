# SPDX-License-Identifier: Apache-2.0
"""The libraries that MAX is compared with on a GPU. As a program it measures one of them: peers.py REQUESTS, a list in JSON,
and prints for each the median in milliseconds, or what went wrong."""

import functools
import importlib.util
import json
import pathlib
import statistics
import sys
import time

LIBRARIES = {"onnxruntime": "ONNX Runtime", "torch": "PyTorch"}


@functools.cache
def can_use_gpu(library):
    if not importlib.util.find_spec(library):
        return False
    if library == "torch":
        import torch
        return torch.cuda.is_available()
    import onnxruntime
    return "CUDAExecutionProvider" in onnxruntime.get_available_providers()


def present(precision, model):
    """Those that are installed and can measure it."""
    name = pathlib.Path(model).stem
    able = {"onnxruntime": precision != "bf16", "torch": name in TORCH_MODELS or name.startswith("product_")}
    return [library for library in LIBRARIES if able[library] and can_use_gpu(library)]


def array_of(dtype, shape, most, random):
    import numpy as np

    if np.issubdtype(dtype, np.floating):
        return random.random(shape).astype(dtype)
    return random.integers(0, most, shape).astype(dtype)


def with_onnxruntime(request):
    import numpy as np
    import onnxruntime as ort

    options = {"use_tf32": int(request["precision"] == "tf32"), "cudnn_conv_algo_search": "EXHAUSTIVE"}
    session = ort.InferenceSession(request["model"], providers=[("CUDAExecutionProvider", options)])
    if session.get_providers()[0] != "CUDAExecutionProvider":
        raise SystemExit("this ONNX Runtime has no CUDA provider")
    random, binding = np.random.default_rng(0), session.io_binding()
    kept = []
    for each in session.get_inputs():
        dtype = np.dtype({"float": "float32", "int64": "int64", "int32": "int32"}[each.type[7:-1]])
        shape = request["shapes"].get(each.name, each.shape)
        value = array_of(dtype, shape, request["limits"].get(each.name, 2), random)
        kept.append(ort.OrtValue.ortvalue_from_numpy(value, "cuda", 0))
        binding.bind_ortvalue_input(each.name, kept[-1])
    for each in session.get_outputs():
        binding.bind_output(each.name, "cuda")

    def call():
        session.run_with_iobinding(binding)

    return call, binding.synchronize_outputs


def resnet50(torch):
    nn = torch.nn

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            outputs = 4 * width
            self.body = nn.Sequential(nn.Conv2d(inputs, width, 1), nn.ReLU(), nn.Conv2d(width, width, 3, stride, 1), nn.ReLU(),
                                      nn.Conv2d(width, outputs, 1))
            same = inputs == outputs and stride == 1
            self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride)

        def forward(self, x):
            return torch.relu(self.body(x) + self.shortcut(x))

    layers, inputs = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            layers.append(Bottleneck(inputs, width, stride if i == 0 else 1))
            inputs = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


def bert(torch):
    nn = torch.nn

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places, self.types = nn.Embedding(30522, 768), nn.Embedding(512, 768), nn.Embedding(2, 768)
            self.norm = nn.LayerNorm(768)
            layer = nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
            self.layers = nn.TransformerEncoder(layer, 12)

        def forward(self, input_ids, attention_mask, token_type_ids):
            places = torch.arange(input_ids.shape[1], device=input_ids.device)
            x = self.norm(self.tokens(input_ids) + self.places(places) + self.types(token_type_ids))
            return self.layers(x, src_key_padding_mask=attention_mask == 0)

    return Bert()


TORCH_MODELS = {"resnet50": resnet50, "bert": bert}


def with_torch(request):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = request["precision"] == "tf32"
    torch.backends.cudnn.benchmark = True
    name, bf16 = pathlib.Path(request["model"]).stem, request["precision"] == "bf16"
    dtype = torch.bfloat16 if bf16 else torch.float32
    if name.startswith("product_"):
        side = int(name.split("_")[1])
        inputs, module = [torch.rand(side, side, device="cuda", dtype=dtype) for _ in range(2)], torch.matmul
    else:
        module = TORCH_MODELS[name](torch).eval().to("cuda", dtype)
        inputs = []
        for key, shape in request["shapes"].items():
            is_image = len(shape) == 4
            most = 2 if key == "token_type_ids" else request["limits"].get(key, 2)
            made = torch.rand(*shape, dtype=dtype) if is_image else torch.randint(0, most, shape)
            made = torch.ones(*shape, dtype=torch.int64) if key == "attention_mask" else made
            inputs.append(made.to("cuda", memory_format=torch.channels_last) if is_image else made.to("cuda"))

    def call():
        with torch.inference_mode():
            module(*inputs)

    return call, torch.cuda.synchronize


def median_of(call, wait, seconds, warmup=20):
    """Of a call and the wait for its work, as `max bench` measures them."""
    for _ in range(warmup):
        call()
    wait()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        wait()
        times.append((time.perf_counter() - begin) * 1000)
    return statistics.median(times)


def measure(request):
    try:
        prepared = {"onnxruntime": with_onnxruntime, "torch": with_torch}[request["library"]](request)
        return median_of(*prepared, request["seconds"])
    except Exception as error:  # of whatever kind, of another library
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    print(json.dumps([measure(request) for request in json.loads(sys.argv[1])]))
