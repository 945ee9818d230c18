// SPDX-License-Identifier: Apache-2.0

package max

import (
	"strconv"
	"unsafe"
)

// Dynamic is a dimension that each call may choose, and a rank that is not known before a call.
const Dynamic = max_DIMENSION_DYNAMIC

// TensorInfo is what is known of an input, output, weight or value before there is one.
type TensorInfo struct {
	Name string
	// Type is the type in words: "float32[batch, 3]", "sequence of float32".
	Type string
	Kind ValueKind
	// DType is the element type; of a sequence or optional that of the tensors in it, of a map that of its values.
	DType DType
	// Rank is the number of dimensions, or Dynamic.
	Rank int
	// Shape has Dynamic where a call chooses; nil if the rank is not known.
	Shape []int64
	// DimensionNames has the names of dimensions that a call chooses: "batch", "2*batch + 1"; "" = none.
	DimensionNames []string
	// Device names the device where it is: "cpu:0"; "" for files, and for values that are on the session's first one.
	Device string
}

func newTensorInfo() *maxTensorInfo {
	return &maxTensorInfo{structSize: unsafe.Sizeof(maxTensorInfo{})}
}

func (raw *maxTensorInfo) info() TensorInfo {
	info := TensorInfo{Name: goText(raw.name), Type: goText(raw.typeName), Kind: raw.kind, DType: raw.dtype, Rank: Dynamic}
	if raw.validMask&max_TENSOR_INFO_RANK != 0 {
		info.Rank = int(raw.rank)
	}
	if raw.validMask&max_TENSOR_INFO_SHAPE != 0 && info.Rank >= 0 {
		info.Shape = append([]int64{}, lent(raw.shape, info.Rank)...)
		info.DimensionNames = make([]string, info.Rank)
		for i, name := range lent(raw.dimensionNames, info.Rank) {
			info.DimensionNames[i] = goText(name)
		}
	}
	if raw.device != nil {
		info.Device = deviceText(raw.device)
	}
	return info
}

func deviceText(raw *maxDevice) string {
	maxDeviceRetain(raw)
	device := newDevice(raw)
	defer device.handle.close()
	label, err := device.Label()
	id, failure := device.ID()
	if err != nil || failure != nil {
		return ""
	}
	return label + ":" + strconv.Itoa(id)
}

// tensorInfos reports on all inputs, outputs or weights of an object.
func tensorInfos[O any](raw *O, count func(*O, *int32) error, get func(*O, int32, *maxTensorInfo) error) ([]TensorInfo, error) {
	number := new(int32)
	if err := count(raw, number); err != nil {
		return nil, err
	}
	infos := make([]TensorInfo, *number)
	for i := range infos {
		info := newTensorInfo()
		if err := get(raw, int32(i), info); err != nil {
			return nil, err
		}
		infos[i] = info.info()
	}
	return infos, nil
}
