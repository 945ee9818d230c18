/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on numbers of 16 bits: each result is the exact one, rounded once to the nearest, of two to the even. */
#include <math.h>

#include "kernels.h"

enum { VALUES = 40, THIRDS = 8, CASES = VALUES * VALUES * THIRDS, FIELDS = 17 };

static const char source[] =
    "#include <cuda_bf16.h>\n"
    "#include <cuda_fp16.h>\n"
    "#define KERNEL(NAME, T, OF, BITS, PAIR, LOW, HIGH)\\\n"
    "  extern \"C\" __global__ void NAME(const unsigned short* a, const unsigned short* b, const unsigned short* c,\\\n"
    "                                  unsigned short* out, int count) {\\\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\\\n"
    "    if (i >= count) return;\\\n"
    "    const T x = OF(a[i]), y = OF(b[i]), z = OF(c[i]);\\\n"
    "    const auto p = PAIR(x, y), q = PAIR(y, z), r = PAIR(z, x);\\\n"
    "    const auto sum = __hadd2(p, q), difference = __hsub2(p, q), product = __hmul2(p, q), all = __hfma2(p, q, "
    "r);\\\n"
    "    out += 17 * i;\\\n"
    "    out[0] = BITS(x + y), out[1] = BITS(__hsub(x, y)), out[2] = BITS(x * y), out[3] = BITS(x / y);\\\n"
    "    out[4] = BITS(__hfma(x, y, z)), out[5] = BITS(__hmax(x, y)), out[6] = BITS(__hmin(x, y));\\\n"
    "    out[7] = BITS(LOW(sum)), out[8] = BITS(HIGH(sum));\\\n"
    "    out[9] = BITS(LOW(difference)), out[10] = BITS(HIGH(difference));\\\n"
    "    out[11] = BITS(LOW(product)), out[12] = BITS(HIGH(product));\\\n"
    "    out[13] = BITS(LOW(all)), out[14] = BITS(HIGH(all));\\\n"
    "    out[15] = BITS(T((double)x * 1.00048828125 + 1e-12)), out[16] = BITS(T((float)y * 1.001953125f));\\\n"
    "  }\n"
    "KERNEL(halves, __half, __ushort_as_half, __half_as_ushort, __halves2half2, __low2half, __high2half)\n"
    "KERNEL(bfloats, __nv_bfloat16, __ushort_as_bfloat16, __bfloat16_as_ushort, __halves2bfloat162, __low2bfloat16,\n"
    "       __high2bfloat16)\n";

struct format {
  const char* kernel;
  int digits; /* after the point */
  int bias;
  uint16_t values[VALUES]; /* those given; the others are random */
};

static const struct format formats[] = {
    {"halves", 10, 15, {0,      0x8000, 1,      0x8001, 2,      3,      0x3ff,  0x400,  0x401,
                        0x3bff, 0x3c00, 0x3c01, 0xbc00, 0xbc01, 0x4000, 0x7bff, 0xfbff, 0x7c00,
                        0xfc00, 0x7e01, 0x5bff, 0x1000, 0x1001, 0x13ff, 0x9000, 0x6c00, 0x3e00}},
    {"bfloats", 7, 127, {0,      0x8000, 1,      0x8001, 2,      3,      0x7f,   0x80,   0x81,
                         0x3f7f, 0x3f80, 0x3f81, 0xbf80, 0xbf81, 0x4000, 0x7f7f, 0xff7f, 0x7f80,
                         0xff80, 0x7fc1, 0x5f80, 0x2000, 0x3b80, 0xbb80, 0x0180, 0x7e80, 0x3fc0}},
};

static double number_of(const struct format* f, uint16_t bits) {
  const int fraction = bits & ((1 << f->digits) - 1), exponent = (bits & 0x7fff) >> f->digits;
  double size = ldexp(fraction, 1 - f->bias - f->digits);
  if (exponent > 0) size = ldexp(fraction + (1 << f->digits), exponent - f->bias - f->digits);
  if (exponent == 2 * f->bias + 1) size = fraction ? NAN : INFINITY;
  return bits >> 15 ? -size : size;
}

/* Where the unit of a number's last digit lies. */
static int unit_of(const struct format* f, double x) {
  int exponent = 0;
  frexp(x, &exponent);
  return (exponent < 2 - f->bias ? 2 - f->bias : exponent) - 1 - f->digits;
}

static uint16_t rounded(const struct format* f, double x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = (uint16_t)((2 * f->bias + 1) << f->digits);
  if (isnan(x)) return 0x7fff;
  if (isinf(x)) return sign | infinite;
  if (x == 0) return sign;
  const int unit = unit_of(f, x);
  const double count = nearbyint(ldexp(fabs(x), -unit)); /* of units */
  const double bits = count + ldexp(unit - (1 - f->bias - f->digits), f->digits);
  return sign | (bits >= infinite ? infinite : (uint16_t)bits);
}

/* Exact, but that a far smaller number is replaced by one of which all that counts is its sign. */
static double sum_of(double a, double b) {
  const double large = fabs(a) > fabs(b) ? a : b;
  double small = fabs(a) > fabs(b) ? b : a;
  int large_exponent = 0, small_exponent = 0;
  if (isinf(large) || isnan(a) || isnan(b) || small == 0) return a + b;
  frexp(large, &large_exponent);
  frexp(small, &small_exponent);
  if (large_exponent - small_exponent > 30) small = copysign(ldexp(1, large_exponent - 30), small);
  return large + small;
}

static double larger_of(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
  return a > b || (a == b && !signbit(a)) ? a : b;
}

static void check_case(const struct format* f, const uint16_t* bits, const uint16_t* got) {
  const double x = number_of(f, bits[0]), y = number_of(f, bits[1]), z = number_of(f, bits[2]);
  const double expected[FIELDS] = {sum_of(x, y),
                                   sum_of(x, -y),
                                   x * y,
                                   x / y,
                                   sum_of(x * y, z),
                                   larger_of(x, y),
                                   -larger_of(-x, -y),
                                   sum_of(x, y),
                                   sum_of(y, z),
                                   sum_of(x, -y),
                                   sum_of(y, -z),
                                   x * y,
                                   y * z,
                                   sum_of(x * y, z),
                                   sum_of(y * z, x),
                                   x * 1.00048828125 + 1e-12,
                                   (float)y * 1.001953125f};
  for (int i = 0; i < FIELDS; ++i) {
    const uint16_t right = rounded(f, expected[i]);
    if (right == 0x7fff ? !isnan(number_of(f, got[i])) : got[i] != right)
      fail_msg("%s of %04x, %04x, %04x, number %d: %04x, not %04x", f->kernel, bits[0], bits[1], bits[2], i, got[i],
               right);
  }
}

static void check_format(MaxDevice* device, const MaxModule* module, const struct format* f, uint32_t* random) {
  static uint16_t in[3][CASES], out[CASES][FIELDS];
  for (int i = 0; i < CASES; ++i) {
    const int at[] = {i / THIRDS % VALUES, i / THIRDS / VALUES, (int)random_below(random, VALUES)};
    for (int k = 0; k < 3; ++k) {
      const int is_given = at[k] == 0 || f->values[at[k]] != 0;
      in[k][i] = is_given ? f->values[at[k]] : (uint16_t)random_below(random, 0x10000);
    }
  }
  const int64_t count = CASES, fields = CASES * FIELDS;
  MaxBuffer* buffers[] = {
      upload(device, MAX_DTYPE_UINT16, 1, &count, in[0]), upload(device, MAX_DTYPE_UINT16, 1, &count, in[1]),
      upload(device, MAX_DTYPE_UINT16, 1, &count, in[2]), upload(device, MAX_DTYPE_UINT16, 1, &fields, out)};
  const int32_t cases = CASES;
  const void* arguments[] = {buffers[0], buffers[1], buffers[2], buffers[3], &cases};
  const size_t sizes[] = {BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, BUFFER_ARGUMENT, sizeof cases};
  const MaxLaunchConfig config = shape_of((CASES + 127) / 128, 128);
  CHECK(maxKernelLaunch(find(module, f->kernel), &config, arguments, sizes, 5, NULL));
  download(buffers[3], out, sizeof out);
  for (int i = 0; i < CASES; ++i) check_case(f, (const uint16_t[]){in[0][i], in[1][i], in[2][i]}, out[i]);
  for (int i = 0; i < 4; ++i) maxBufferRelease(buffers[i]);
}

void test_halves(void** state) {
  (void)state;
  uint32_t random = 11;
  MaxDevice* device = open_device();
  MaxModule* module = compile(device, source);
  for (size_t i = 0; i < COUNT_OF(formats); ++i) check_format(device, module, &formats[i], &random);
  maxModuleRelease(module);
  maxDeviceRelease(device);
}
