// SPDX-License-Identifier: Apache-2.0

package max

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesOfCheckpoints(t *testing.T) {
	noLeaks(t)
	path := filepath.Join(t.TempDir(), "a.max")
	check(t, counted(t, 2, 2).Save(path, "key"))
	loaded := must(LoadBuffer(path))(t)
	equal(t, data[int32](t, loaded), []int32{0, 1, 2, 3})
	weights := must(LoadWeights(path))(t)
	equal(t, must(weights.Names())(t), []string{"key"})
	check(t, os.WriteFile(path, []byte("no checkpoint"), 0o600))
	_, err := LoadBuffer(path)
	fails(t, err, ErrInvalidArgument, path)
	fails(t, loaded.Save("/no/such/folder/a.max", ""), ErrNotFound, "/no/such/folder")
}

func TestFilesMapped(t *testing.T) {
	noLeaks(t)
	path := filepath.Join(t.TempDir(), "numbers")
	created := must(MapBuffer(path, DTypeInt32, []int64{4}, MapModeCreate, 0))(t)
	check(t, Fill[int32](created, 5, nil))
	equal(t, data[int32](t, must(MapBuffer(path, DTypeInt32, []int64{2}, MapModeRead, 8))(t)), []int32{5, 5})
	private := must(MapBuffer(path, DTypeInt32, []int64{4}, MapModeCopyOnWrite, 0))(t)
	check(t, SetAt[int32](private, 6, 0))
	equal(t, must(At[int32](created, 0))(t), int32(5))
	_, err := MapBuffer(path, DTypeInt32, []int64{5}, MapModeRead, 0)
	fails(t, err, ErrOutOfRange, "")
	_, err = MapBuffer(path, DTypeInt32, []int64{4}, MapModeRead, -1)
	fails(t, err, ErrOutOfRange, "-1")
	_, err = MapBuffer(path+"x", DTypeInt32, nil, MapModeRead, 0)
	fails(t, err, ErrNotFound, path+"x")
}

func TestFilesDLPack(t *testing.T) {
	noLeaks(t)
	for _, unversioned := range []bool{false, true} {
		buffer := counted(t, 2, 2)
		tensor := must(buffer.ToDLPack(&DLPackExportOptions{Unversioned: unversioned}))(t)
		shared := must(FromDLPack(tensor, &DLPackOptions{Unversioned: unversioned, NeverCopy: true}))(t)
		check(t, SetAt[int32](buffer, 9, 0, 1))
		equal(t, data[int32](t, shared), []int32{0, 9, 2, 3})
		copied := must(FromDLPack(must(shared.ToDLPack(nil))(t), &DLPackOptions{Copy: true}))(t)
		check(t, SetAt[int32](buffer, 10, 0, 1))
		equal(t, must(At[int32](copied, 0, 1))(t), int32(9))
	}
	_, err := FromDLPack(nil, nil)
	fails(t, err, ErrInvalidArgument, "NULL")
	_, err = FromDLPack(nil, &DLPackOptions{Copy: true, NeverCopy: true})
	fails(t, err, ErrInvalidArgument, "exclude")
	_, err = must(WrapSlice([]int64{1}, []int8{1}, &WrapOptions{ReadOnly: true}))(t).ToDLPack(&DLPackExportOptions{Unversioned: true})
	fails(t, err, ErrFailedPrecondition, "read-only")
}
