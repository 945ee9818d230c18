// SPDX-License-Identifier: Apache-2.0
// Compiling through the cache.
#pragma once

#include "kernel/compiler.h"

namespace max {

class CompileCache;

// As the compiler's compile(). What depends on files that the key knows nothing of (flags that name some, includes of
// headers that the source does not bring) is compiled each time.
CompiledCode compileCached(const KernelCompiler& compiler, const KernelSource& source, MaxArtifactKind kind);
CompiledCode compileCached(CompileCache& cache, const KernelCompiler& compiler, const KernelSource& source,
                           MaxArtifactKind kind);

// Whether the compiled form depends on nothing but the source and the compiler, its own headers included.
bool isSelfContained(const KernelSource& source);

}  // namespace max
