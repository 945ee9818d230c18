/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

struct row {
  MaxDType dtype;
  int number;
  const char* name;
  size_t bits;
};

/* Numbers are a promise: the bytes of the .max format where it has one. */
static const struct row rows[] = {
    {MAX_DTYPE_BOOL, 1, "bool", 8},
    {MAX_DTYPE_STRING, 2, "string", 0},
    {MAX_DTYPE_FLOAT4_E2M1FN, 64, "float4_e2m1fn", 4},
    {MAX_DTYPE_FLOAT6_E2M3FN, 65, "float6_e2m3fn", 6},
    {MAX_DTYPE_FLOAT6_E3M2FN, 66, "float6_e3m2fn", 6},
    {MAX_DTYPE_FLOAT8_E8M0FNU, 73, "float8_e8m0fnu", 8},
    {MAX_DTYPE_FLOAT8_E4M3FN, 75, "float8_e4m3fn", 8},
    {MAX_DTYPE_FLOAT8_E4M3FNUZ, 76, "float8_e4m3fnuz", 8},
    {MAX_DTYPE_FLOAT8_E5M2, 77, "float8_e5m2", 8},
    {MAX_DTYPE_FLOAT8_E5M2FNUZ, 78, "float8_e5m2fnuz", 8},
    {MAX_DTYPE_FLOAT16, 79, "float16", 16},
    {MAX_DTYPE_BFLOAT16, 80, "bfloat16", 16},
    {MAX_DTYPE_FLOAT32, 81, "float32", 32},
    {MAX_DTYPE_FLOAT64, 82, "float64", 64},
    {MAX_DTYPE_COMPLEX64, 97, "complex64", 64},
    {MAX_DTYPE_COMPLEX128, 98, "complex128", 128},
    {MAX_DTYPE_UINT2, 130, "uint2", 2},
    {MAX_DTYPE_INT2, 131, "int2", 2},
    {MAX_DTYPE_UINT4, 132, "uint4", 4},
    {MAX_DTYPE_INT4, 133, "int4", 4},
    {MAX_DTYPE_UINT8, 134, "uint8", 8},
    {MAX_DTYPE_INT8, 135, "int8", 8},
    {MAX_DTYPE_UINT16, 136, "uint16", 16},
    {MAX_DTYPE_INT16, 137, "int16", 16},
    {MAX_DTYPE_UINT32, 138, "uint32", 32},
    {MAX_DTYPE_INT32, 139, "int32", 32},
    {MAX_DTYPE_UINT64, 140, "uint64", 64},
    {MAX_DTYPE_INT64, 141, "int64", 64},
};

static void test_every_type(void** state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(rows); ++i) {
    const struct row* row = &rows[i];
    assert_int_equal(row->dtype, row->number);
    assert_string_equal(maxDTypeGetName(row->dtype), row->name);
    assert_int_equal(maxDTypeGetBits(row->dtype), row->bits);
    assert_int_equal(maxDTypeGetSize(row->dtype), (row->bits + 7) / 8);
    MaxDType found = MAX_DTYPE_INVALID;
    CHECK(maxDTypeFromName(row->name, &found));
    assert_int_equal(found, row->dtype);
  }
}

static void test_no_other_number_is_a_type(void** state) {
  (void)state;
  size_t known = 0;
  for (MaxDType dtype = -300; dtype < 300; ++dtype) {
    if (strcmp(maxDTypeGetName(dtype), "invalid") == 0)
      assert_int_equal(maxDTypeGetBits(dtype), 0);
    else
      ++known;
  }
  assert_int_equal(known, COUNT_OF(rows));
  assert_int_equal(maxDTypeGetSize(MAX_DTYPE_INVALID), 0);
}

static void test_unknown_names(void** state) {
  (void)state;
  MaxDType dtype = MAX_DTYPE_FLOAT32;
  CHECK_FAILS(maxDTypeFromName("float31", &dtype), MAX_STATUS_NOT_FOUND,
              "No dtype is named 'float31'; did you mean 'float32'?");
  CHECK_FAILS(maxDTypeFromName("double", &dtype), MAX_STATUS_NOT_FOUND, "did you mean 'float64'?");
  CHECK_FAILS(maxDTypeFromName("bf16", &dtype), MAX_STATUS_NOT_FOUND, "did you mean 'bfloat16'?");
  assert_int_equal(dtype, MAX_DTYPE_INVALID);
  CHECK_FAILS(maxDTypeFromName("", &dtype), MAX_STATUS_NOT_FOUND, "''");
  CHECK_FAILS(maxDTypeFromName("invalid", &dtype), MAX_STATUS_NOT_FOUND, "'invalid'");
  CHECK_FAILS(maxDTypeFromName(NULL, &dtype), MAX_STATUS_INVALID_ARGUMENT, "'name' is NULL");
  CHECK_FAILS(maxDTypeFromName("bool", NULL), MAX_STATUS_INVALID_ARGUMENT, "'outDType' is NULL");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_every_type),
      TEST(test_no_other_number_is_a_type),
      TEST(test_unknown_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
