# SPDX-License-Identifier: Apache-2.0
"""A walk through max.engine and max.driver, step by step as in a notebook: walkthrough.py [OUTPUT].

Writes its pictures as PNG into the folder OUTPUT (by default the current one) if matplotlib is installed
(pip install libmax-runtime[plots])."""

# %% What is needed
import importlib.util
import pathlib
import sys
import time

import numpy as np

from max.driver import CPU, Buffer
from max.engine import InferenceSession

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "digits"
output = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
has_plots = importlib.util.find_spec("matplotlib") is not None
if has_plots:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt


def save(name):
    plt.tight_layout()
    plt.savefig(output / name, dpi=100)
    plt.close()
    print(f"wrote {output / name}")


# %% A session holds devices and threads. Loading tells how far it is.
session = InferenceSession(devices=[CPU()])
model = session.load(DIGITS / "digits.onnx", progress=lambda done, phase: print(f"\r{done:4.0%} {phase:20}", end=""))
print()
print(session, model, sep="\n")

# %% Inputs are numpy's arrays or buffers, which share their memory. Open dimensions may have any size.
images, labels = np.load(DIGITS / "images.npy"), np.load(DIGITS / "labels.npy")
pixels = images.reshape(-1, 1, 8, 8).astype(np.float32)
buffer = Buffer.from_numpy(pixels)
assert np.shares_memory(buffer.to_numpy(), pixels)
probabilities = model(buffer)[0].to_numpy()
answers = probabilities.argmax(axis=1)
print(f"accuracy {(answers == labels).mean():.1%} of {len(labels)} images")

# %% What the model sees, and where it errs
wrong = np.flatnonzero(answers != labels)
if has_plots:
    shown = np.concatenate([wrong[:4], np.arange(12)])[:12]
    figure, axes = plt.subplots(2, 6, figsize=(9, 3.4))
    for axis, i in zip(axes.flat, shown):
        axis.imshow(images[i], cmap="gray_r")
        axis.set_title(f"{labels[i]}: {answers[i]} ({probabilities[i].max():.0%})", fontsize=9)
        axis.set_axis_off()
    save("digits.png")

    confusion = np.zeros((10, 10), int)
    np.add.at(confusion, (labels, answers), 1)
    plt.imshow(confusion, cmap="viridis", norm=matplotlib.colors.LogNorm(0.5, confusion.max(), clip=True))
    plt.xlabel("answer")
    plt.ylabel("digit")
    plt.xticks(range(10))
    plt.yticks(range(10))
    plt.colorbar(label="images")
    save("confusion.png")

# %% How long a call takes, and what batches bring
sizes, times = [1, 2, 5, 10, 20, 50, 100, 200, 500], []
for size in sizes:
    batch, taken = pixels[:size], []
    for _ in range(30):
        start = time.perf_counter()
        model(batch)
        taken.append(time.perf_counter() - start)
    times.append(np.median(taken) / size * 1e6)
    print(f"batch of {size:3}: {times[-1]:7.1f} microseconds for each image")
if has_plots:
    plt.loglog(sizes, times, "o-")
    plt.xlabel("images in a call")
    plt.ylabel("microseconds for each image")
    save("batches.png")

# %% What the steps of a call cost: open the file with https://ui.perfetto.dev
session.gpu_profiling("on")
model(buffer)
session.write_profile(output / "trace.json")
session.gpu_profiling("off")
print(f"wrote {output / 'trace.json'}")
