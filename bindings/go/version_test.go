// SPDX-License-Identifier: Apache-2.0

package max

import "testing"

func TestVersion(t *testing.T) {
	equal(t, Version(), "0.1.0")
	equal(t, ABIVersion(), PackageABIVersion)
}
