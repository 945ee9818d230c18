// SPDX-License-Identifier: Apache-2.0
// Nothing of the library is destroyed when the process exits: threads may still be running models
// then. Objects of static storage inside libmax.so (those of the C++ library in it too) register
// their destructors here instead of with the C library, and so keep living.

extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) noexcept { return 0; }
