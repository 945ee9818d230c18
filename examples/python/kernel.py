# SPDX-License-Identifier: Apache-2.0
"""Adds two vectors with a kernel that is compiled at run time, on an accelerator if there is one."""

import numpy as np

from max.driver import CPU, Accelerator, Buffer, DeviceStream, Module, accelerator_count, execution_time

SOURCE = """
extern "C" __global__ void add(const float* a, const float* b, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
"""
COUNT, THREADS = 100_000, 256


def main():
    device = Accelerator() if accelerator_count() else CPU()
    stream = DeviceStream(device)
    numbers = np.arange(COUNT, dtype=np.float32)
    a, b = Buffer(numbers, device), Buffer(2 * numbers, device)
    total = Buffer.zeros(a.shape, a.dtype, device)
    add = Module(SOURCE, device)["add"]

    def launch():
        add(a, b, total, COUNT, grid=-(-COUNT // THREADS), block=THREADS, stream=stream)

    taken = execution_time(launch, stream, iterations=10)
    assert (total.to_numpy() == 3 * numbers).all()
    print(f"added {COUNT} numbers on {device}, {taken:.3f} ms each time")


if __name__ == "__main__":
    main()
