// SPDX-License-Identifier: Apache-2.0

package max

// Version returns the version of the loaded library, for example "0.1.0".
func Version() string {
	return goText(maxGetVersion())
}

// ABIVersion returns the ABI version of the loaded library; that of this package is [PackageABIVersion].
func ABIVersion() int {
	return int(maxGetAbiVersion())
}

// PackageABIVersion is the ABI version that this package was made for.
const PackageABIVersion = max_ABI_VERSION

// LiveObjects counts the library's objects that have not been released, but for what this package keeps to use again. It is
// for tests, and no promise.
func LiveObjects() (int, error) {
	count := new(int64)
	err := maxExperimentalGetLiveObjectCount(count)
	return int(*count - spareCount()), err
}
