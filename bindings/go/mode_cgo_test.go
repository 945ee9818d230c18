//go:build cgo && !max_purego

// SPDX-License-Identifier: Apache-2.0

package max

const opensLibrary = false
