// SPDX-License-Identifier: Apache-2.0
// Measures the CPU time of libspatialaudio (LGPL, Debian's libspatialaudio-dev) for the work of `bench
// render`: rotation by a new yaw in every block and binaural decoding with the default HRTF set.
// usage: peer-libspatialaudio ORDER BLOCK    prints "TAPS CPU-MILLISECONDS-PER-SECOND"
#include <Ambisonics.h>
#include <AmbisonicBinauralizer.h>
#include <AmbisonicProcessor.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>
#include <vector>

static double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const unsigned order = std::atoi(arguments[1]), block = std::atoi(arguments[2]);
  const unsigned rate = 48000, channels = (order + 1) * (order + 1);
  CBFormat field;
  CAmbisonicProcessor rotator;
  CAmbisonicBinauralizer binauralizer;
  unsigned taps = 0;
  field.Configure(order, true, block);
  field.Reset();
  const char* set = "/usr/share/libmysofa/default.sofa";
  // The library prints to stdout while it configures.
  const int out = dup(1);
  dup2(2, 1);
  const bool ready = rotator.Configure(order, true, block, 0)
      && binauralizer.Configure(order, true, rate, block, taps, set);
  std::cout.flush();
  dup2(out, 1);
  if (!ready) return 1;
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> noise(-0.1f, 0.1f);
  std::vector<float> samples(block), left(block), right(block);
  for (float& x : samples) x = noise(generator);
  float* ears[] = {left.data(), right.data()};
  const unsigned blocks = 4 * rate / block;
  double best = 1e9;
  for (int run = 0; run < 5; run++) {
    const double start = cpuSeconds();
    for (unsigned b = 0; b < blocks; b++) {
      for (unsigned c = 0; c < channels; c++) field.InsertStream(samples.data(), c, block);
      rotator.SetOrientation(Orientation(float(b % 360) * 0.01745329f, 0, 0));
      rotator.Refresh();
      rotator.Process(&field, block);
      binauralizer.Process(&field, ears);
    }
    best = std::min(best, cpuSeconds() - start);
  }
  std::printf("%u %.4f\n", taps, best * 1000 * rate / (double(blocks) * block));
}
