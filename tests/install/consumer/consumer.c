/* SPDX-License-Identifier: Apache-2.0 */
#include <max/max.h>
#include <stdio.h>

int main(void) {
  MaxDevice* device = NULL;
  if (maxDeviceCreate("cpu", -1, NULL, &device) != MAX_STATUS_OK) {
    fprintf(stderr, "%s\n", maxGetLastErrorMessage());
    return 1;
  }
  maxDeviceRelease(device);
  puts("ok");
  return 0;
}
