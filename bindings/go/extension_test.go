// SPDX-License-Identifier: Apache-2.0

package max

import (
	"os"
	"path/filepath"
	"testing"
)

func TestExtension(t *testing.T) {
	noLeaks(t)
	fails(t, LoadExtension("/no/such/extension.so"), ErrNotFound, "/no/such/extension.so")
	path := filepath.Join(t.TempDir(), "text.so")
	check(t, os.WriteFile(path, []byte("no library"), 0o600))
	fails(t, LoadExtension(path), ErrInvalidArgument, path)

	folder := filepath.Join(repository, "examples/custom_operator")
	err := LoadExtension(filepath.Join(folder, "kernels.cu"))
	if StatusOf(err) == StatusUnavailable {
		t.Skip(err)
	}
	check(t, err)
	check(t, LoadExtension(filepath.Join(folder, "kernels.cu")))
}
