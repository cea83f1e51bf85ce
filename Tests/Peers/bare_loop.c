// SPDX-License-Identifier: Apache-2.0
// The work of `bench render` without anything around it: FFTW's real transforms, and plain C that the
// compiler vectorises. It shows the speed of the processor and a good library without further tuning.
//
// A soundfield of order N is processed in blocks of B frames. Each degree is rotated by a matrix that is
// ramped from that of the last block. Uniformly partitioned overlap-save convolution (Wefers 2015,
// chapter 5) with filters of 512 taps follows. `full` has two filters per channel. `symmetric` has ears
// that are mirror images: channels with m < 0 differ only in sign, so it has one filter per channel, and
// a sum and a difference.
//
// gcc -O3 -march=native -ffast-math bare_loop.c -lfftw3f -lm
// usage: bare_loop ORDER BLOCK full|symmetric [REPETITIONS]   prints "TAPS CPU-MILLISECONDS-PER-SECOND"
//        bare_loop --check   compares the result with direct convolution in double precision
#include <fftw3.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX2__)
#define LANES 8
#else
#define LANES 4
#endif
enum { RATE = 48000, TAPS = 512, MOST_CHANNELS = 64, MOST_DEGREES = 8 };
typedef float Lanes __attribute__((vector_size(4 * LANES)));

struct loop {
  int order, channels, block, partitions, bins;  // bins are padded to whole vectors
  bool symmetric;
  bool odd[MOST_CHANNELS];
  float *past;      // channels x 2 blocks: what overlap-save transforms
  float *spectra;   // partitions x channels x (re bins, im bins), a ring
  float *filters;   // ears x partitions x channels x (re bins, im bins)
  float *sums;      // ears x (re bins, im bins)
  float *time;      // 2 blocks
  float *from[MOST_DEGREES], *to[MOST_DEGREES];  // a matrix for every degree, rows are outputs
  int newest;
  fftwf_plan forward, inverse;
};

static float *floats(size_t count) {
  float *memory = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  if (!memory) exit(1);
  memset(memory, 0, count * sizeof(float));
  return memory;
}

static float noise(void) { return (float)rand() / (float)RAND_MAX - 0.5f; }

static float *spectrum(const struct loop *s, float *all, int ear, int partition, int channel) {
  return all + (((size_t)ear * s->partitions + partition) * s->channels + channel) * 2 * s->bins;
}

// `responses`: ears x channels x TAPS.
static void load_filters(struct loop *s, const float *responses) {
  float *piece = floats(2 * s->block);
  for (int ear = 0; ear < 2; ear++)
    for (int c = 0; c < s->channels; c++)
      for (int p = 0; p < s->partitions; p++) {
        memset(piece, 0, 2 * s->block * sizeof(float));
        const float *h = responses + ((size_t)ear * s->channels + c) * TAPS;
        // FFTW's inverse is 2 B times too large.
        for (int k = 0; k < s->block && p * s->block + k < TAPS; k++)
          piece[k] = h[p * s->block + k] / (2 * s->block);
        float *to = spectrum(s, s->filters, ear, p, c);
        fftwf_execute_split_dft_r2c(s->forward, piece, to, to + s->bins);
      }
  free(piece);
}

static void start(struct loop *s, int order, int block, bool symmetric, const float *responses) {
  memset(s, 0, sizeof *s);
  s->order = order;
  s->channels = (order + 1) * (order + 1);
  s->block = block;
  s->symmetric = symmetric;
  s->partitions = (TAPS + block - 1) / block;
  s->bins = (block + 1 + 15) / 16 * 16;
  for (int l = 0; l <= order; l++) {
    for (int m = -l; m <= l; m++) s->odd[l * l + l + m] = m < 0;
    s->from[l] = floats((2 * l + 1) * (2 * l + 1));
    s->to[l] = floats((2 * l + 1) * (2 * l + 1));
  }
  const size_t spectra = (size_t)s->partitions * s->channels * 2 * s->bins;
  s->past = floats((size_t)s->channels * 2 * block);
  s->spectra = floats(spectra);
  s->filters = floats(2 * spectra);
  s->sums = floats(4 * s->bins);
  s->time = floats(2 * block);
  const fftwf_iodim size = {2 * block, 1, 1};
  s->forward = fftwf_plan_guru_split_dft_r2c(
      1, &size, 0, NULL, s->past, s->sums, s->sums + s->bins, FFTW_MEASURE);
  s->inverse = fftwf_plan_guru_split_dft_c2r(
      1, &size, 0, NULL, s->sums, s->sums + s->bins, s->time, FFTW_MEASURE);
  memset(s->past, 0, (size_t)s->channels * 2 * block * sizeof(float));
  load_filters(s, responses);
}

static void finish(struct loop *s) {
  for (int l = 0; l <= s->order; l++) free(s->from[l]), free(s->to[l]);
  free(s->past), free(s->spectra), free(s->filters), free(s->sums), free(s->time);
  fftwf_destroy_plan(s->forward), fftwf_destroy_plan(s->inverse);
}

// One output of a degree: sums of inputs with the gains of the start, and with their slopes.
__attribute__((noinline)) static void turn_row(
    float *out, const float *const *in, const float *from, const float *to, int size, int block) {
  Lanes ramp;
  for (int i = 0; i < LANES; i++) ramp[i] = i + 1;
  const float step = 1.0f / block;
  for (int n = 0; n < block; n += LANES) {
    Lanes level = {0}, slope = {0};
    for (int j = 0; j < size; j++) {
      Lanes x;
      memcpy(&x, in[j] + n, sizeof x);
      level += from[j] * x;
      slope += (to[j] - from[j]) * x;
    }
    level += slope * ((ramp + (float)n) * step);
    memcpy(out + n, &level, sizeof level);
  }
}

static void rotate(struct loop *s, const float *const *in) {
  const int block = s->block;
  for (int l = 0; l <= s->order; l++)
    for (int i = 0; i < 2 * l + 1; i++) {
      float *past = s->past + (size_t)(l * l + i) * 2 * block;
      memcpy(past, past + block, block * sizeof(float));
      const int row = i * (2 * l + 1);
      if (l == 0) memcpy(past + block, in[0], block * sizeof(float));
      else turn_row(past + block, in + l * l, s->from[l] + row, s->to[l] + row, 2 * l + 1, block);
    }
}

// All products of a vector of bins, so that the sums stay in registers.
__attribute__((noinline)) static void multiply(struct loop *s) {
  const size_t apart = 2 * (size_t)s->bins;
  const size_t ear = (size_t)s->partitions * s->channels * apart;
  for (int k = 0; k < s->bins; k += LANES) {
    Lanes re[2] = {{0}, {0}}, im[2] = {{0}, {0}};
    for (int p = 0; p < s->partitions; p++) {
      const float *x = spectrum(s, s->spectra, 0, (s->newest + p) % s->partitions, 0) + k;
      const float *h = spectrum(s, s->filters, 0, p, 0) + k;
      for (int c = 0; c < s->channels; c++, x += apart, h += apart) {
        const Lanes xr = *(const Lanes *)x, xi = *(const Lanes *)(x + s->bins);
        if (!s->symmetric || !s->odd[c]) {
          const Lanes hr = *(const Lanes *)h, hi = *(const Lanes *)(h + s->bins);
          re[0] += xr * hr - xi * hi;
          im[0] += xr * hi + xi * hr;
        }
        if (!s->symmetric || s->odd[c]) {
          const float *g = s->symmetric ? h : h + ear;
          const Lanes hr = *(const Lanes *)g, hi = *(const Lanes *)(g + s->bins);
          re[1] += xr * hr - xi * hi;
          im[1] += xr * hi + xi * hr;
        }
      }
    }
    for (int e = 0; e < 2; e++) {
      *(Lanes *)(s->sums + e * apart + k) = re[e];
      *(Lanes *)(s->sums + e * apart + s->bins + k) = im[e];
    }
  }
}

static void process(struct loop *s, const float *const *in, float *left, float *right) {
  rotate(s, in);
  s->newest = (s->newest + s->partitions - 1) % s->partitions;
  for (int c = 0; c < s->channels; c++) {
    float *to = spectrum(s, s->spectra, 0, s->newest, c);
    fftwf_execute_split_dft_r2c(
        s->forward, s->past + (size_t)c * 2 * s->block, to, to + s->bins);
  }
  multiply(s);
  float *ears[2] = {left, right};
  for (int e = 0; e < 2; e++) {
    float *sum = s->sums + (size_t)e * 2 * s->bins;
    fftwf_execute_split_dft_c2r(s->inverse, sum, sum + s->bins, s->time);
    memcpy(ears[e], s->time + s->block, s->block * sizeof(float));
  }
  if (!s->symmetric) return;
  for (int n = 0; n < s->block; n++) {
    const float even = left[n], odd = right[n];
    left[n] = even + odd;
    right[n] = even - odd;
  }
}

static void new_matrices(struct loop *s) {
  for (int l = 1; l <= s->order; l++) {
    float *old = s->from[l];
    s->from[l] = s->to[l];
    s->to[l] = old;
    for (int i = 0; i < (2 * l + 1) * (2 * l + 1); i++) old[i] = noise();
  }
}

static float *noise_responses(int channels) {
  float *responses = floats((size_t)2 * channels * TAPS);
  for (int i = 0; i < 2 * channels; i++)
    for (int k = 0; k < TAPS; k++)
      responses[(size_t)i * TAPS + k] = noise() * expf(-5.0f * k / TAPS);
  return responses;
}

// MARK: Check

struct check {
  struct loop loop;
  const float *responses;
  int frames;
  double *turned;      // channels x frames
  float *heard;        // 2 x frames
};

static void check_block(struct check *c, int at) {
  struct loop *s = &c->loop;
  float *in[MOST_CHANNELS];
  new_matrices(s);
  for (int i = 0; i < s->channels; i++) {
    in[i] = floats(s->block);
    for (int n = 0; n < s->block; n++) in[i][n] = noise();
  }
  for (int n = 0; n < s->block; n++) {
    const double t = (n + 1.0) / s->block;
    c->turned[at + n] = in[0][n];
    for (int l = 1; l <= s->order; l++)
      for (int i = 0; i < 2 * l + 1; i++) {
        double sum = 0;
        for (int j = 0; j < 2 * l + 1; j++) {
          const int e = i * (2 * l + 1) + j;
          sum += ((1 - t) * s->from[l][e] + t * s->to[l][e]) * in[l * l + j][n];
        }
        c->turned[(size_t)(l * l + i) * c->frames + at + n] = sum;
      }
  }
  process(s, (const float *const *)in, c->heard + at, c->heard + c->frames + at);
  for (int i = 0; i < s->channels; i++) free(in[i]);
}

static double convolved(const struct check *c, int ear, int n) {
  double sum = 0;
  for (int i = 0; i < c->loop.channels; i++) {
    const bool mirrored = c->loop.symmetric && ear == 1;
    const float *h = c->responses + ((size_t)(mirrored ? 0 : ear) * c->loop.channels + i) * TAPS;
    const double sign = mirrored && c->loop.odd[i] ? -1 : 1;
    for (int k = 0; k < TAPS && k <= n; k++)
      sum += sign * h[k] * c->turned[(size_t)i * c->frames + n - k];
  }
  return sum;
}

static bool check(int order, int block, bool symmetric) {
  const int channels = (order + 1) * (order + 1);
  float *responses = noise_responses(channels);
  struct check c = {.responses = responses, .frames = (1300 / block + 2) * block};
  start(&c.loop, order, block, symmetric, responses);
  c.turned = calloc((size_t)channels * c.frames, sizeof(double));
  c.heard = floats(2 * (size_t)c.frames);
  for (int at = 0; at < c.frames; at += block) check_block(&c, at);
  double error = 0, energy = 0;
  for (int ear = 0; ear < 2; ear++)
    for (int n = 0; n < c.frames; n += order < 5 ? 1 : 7) {
      const double truth = convolved(&c, ear, n), off = c.heard[ear * c.frames + n] - truth;
      error += off * off;
      energy += truth * truth;
    }
  const double decibels = 10 * log10(error / energy);
  printf("order %d, block %4d, %-9s: %.1f dB\n", order, block, symmetric ? "symmetric" : "full",
         decibels);
  finish(&c.loop);
  free(responses), free(c.turned), free(c.heard);
  return decibels < -110;
}

// MARK: Cost

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double cost(int order, int block, bool symmetric, int repetitions) {
  struct loop s;
  const int channels = (order + 1) * (order + 1);
  float *responses = noise_responses(channels), *in[MOST_CHANNELS];
  start(&s, order, block, symmetric, responses);
  for (int i = 0; i < channels; i++) {
    in[i] = floats(block);
    for (int n = 0; n < block; n++) in[i][n] = noise();
  }
  float *left = floats(block), *right = floats(block);
  // About 10 ms of work, and matrices that are there before it begins.
  const int blocks = 10 * RATE / block / (order * order);
  double best = 1e9;
  new_matrices(&s), new_matrices(&s);
  for (int r = 0; r < repetitions; r++) {
    const double begun = cpu_seconds();
    for (int b = 0; b < blocks; b++) {
      for (int l = 1; l <= order; l++) {
        float *old = s.from[l];
        s.from[l] = s.to[l], s.to[l] = old;
      }
      process(&s, (const float *const *)in, left, right);
    }
    const double spent = (cpu_seconds() - begun) * RATE / ((double)blocks * block);
    if (spent < best) best = spent;
  }
  for (int i = 0; i < channels; i++) free(in[i]);
  free(responses), free(left), free(right);
  finish(&s);
  return best;
}

int main(int count, char **words) {
  if (count == 2 && !strcmp(words[1], "--check")) {
    bool good = true;
    for (int order = 1; order <= 7; order += 2)
      for (int block = 32; block <= 1024; block *= 2)
        for (int symmetric = 0; symmetric < 2; symmetric++)
          if (!check(order, block, symmetric)) good = false;
    return !good;
  }
  if (count < 4) return 2;
  const int order = atoi(words[1]), block = atoi(words[2]);
  const int repetitions = count > 4 ? atoi(words[4]) : 10;
  if (order < 1 || order > 7 || block < 16 || block > 8192 || block % 16 || repetitions < 1)
    return 2;
  printf("%d %.5f\n", TAPS, 1e3 * cost(order, block, !strcmp(words[3], "symmetric"), repetitions));
  return 0;
}
