// SPDX-License-Identifier: Apache-2.0
// Compiling through the cache.
#pragma once

#include "kernel/compiler.h"

namespace max {

class CompileCache;

// Like the compiler's compile(). Sources that depend on files outside the key (named in flags, or included but not
// provided with the source) are compiled each time.
CompiledCode compileCached(const KernelCompiler& compiler, const KernelSource& source, MaxArtifactKind kind);
CompiledCode compileCached(CompileCache& cache, const KernelCompiler& compiler, const KernelSource& source,
                           MaxArtifactKind kind);

// Whether the result depends only on the source and the compiler, including its own headers.
bool isSelfContained(const KernelSource& source);

}  // namespace max
