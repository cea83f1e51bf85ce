// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Tests `--separator neural` with small libraries that have the C interface of DeepFilterNet.
@Suite(.enabled(if: compiler != nil, "there is no C compiler: apt install gcc"))
struct NeuralSeparatorTests {
  private let folder = TemporaryFolder()

  /// Compiles a library that delays sound by 1440 frames, as DeepFilterNet 3 does, and then runs
  /// `action` for each block of 480 frames in `y`. Returns its folder, which also has a model.
  private func library(_ action: String, creates: String = "") throws -> String {
    let source = try folder.write(
      Array(
        """
        #include <fcntl.h>
        #include <math.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        struct state { float past[1440]; long blocks; };
        void *df_create(const char *model, float limit, const char *level) {
          if (limit != 18 || level || access(model, R_OK)) abort();
          \(creates)
          return calloc(1, sizeof(struct state));
        }
        size_t df_get_frame_length(void *s) { return 480; }
        void df_free(void *s) { free(s); }
        float df_process_frame(void *state, float *x, float *y) {
          struct state *s = state;
          memcpy(y, s->past, 4 * 480);
          memmove(s->past, s->past + 480, 4 * 960);
          memcpy(s->past + 960, x, 4 * 480);
          s->blocks++;
          \(action)
          return 0;
        }
        """.utf8), to: "library.c")
    _ = try folder.write([1], to: "DeepFilterNet3_onnx.tar.gz")
    let run = try ProgramRun.of(
      try #require(compiler),
      ["-shared", "-fPIC", "-o", folder.file("libdeepfilter.so"), source])
    try #require(run.exitCode == 0, "\(run.errors)")
    return folder.path
  }

  /// Writes a soundfield of a voice-like sound in front, with noise in all channels.
  private func field(frames: Int = 96_000, sampleRate: Int = 48_000) throws -> String {
    var random = SeededGenerator.forTest()
    let sound = (0..<4).map { c in
      (0..<frames).map { i -> Float in
        let time = Double(i) / 48_000
        let tone = 0.2 * sin(2 * .pi * 500 * time) * max(0, sin(2 * .pi * 4 * time))
        return (c == 0 || c == 3 ? Float(tone) : 0) + Float.random(in: -0.01...0.01, using: &random)
      }
    }
    return try folder.write(
      FloatWAV(rate: sampleRate, channels: sound).bytes(), to: "field.wav")
  }

  private func run(
    _ separator: String?, _ input: String, _ options: [String] = []
  ) throws -> ProgramRun {
    try ProgramRun.of(
      Stillstage.path,
      [
        "render", input, "-o", folder.file("out.wav"), "--layout", "foa", "--to", "foa+speech",
        "--mix", "cinematic", "--amount", "0",
      ] + (separator == nil ? [] : ["--separator", "neural"]) + options,
      environment: ["STILLSTAGE_SEPARATOR": separator], timeoutSeconds: 60)
  }

  private func stems(_ separator: String?, _ input: String) throws -> [[Float]] {
    let run = try run(separator, input)
    try #require(run.exitCode == 0, "\(run.errors)")
    return try FloatWAV(reading: folder.file("out.wav")).channels
  }

  private func power(_ a: [Float], minus b: [Float]? = nil) -> Double {
    a.indices.reduce(0) {
      let value = Double(a[$1] - (b?[$1] ?? 0))
      return $0 + value * value
    }
  }

  @Test func stemsAddUpAndSpeechIsAligned() throws {
    let input = try field()
    let truth = try FloatWAV(reading: input).channels
    let spatial = try stems(nil, input)
    let neural = try stems(try library(""), input)
    #expect(neural[0].count == truth[0].count)
    #expect(power(zip(neural[0], neural[4]).map { $0 + $1 }, minus: truth[0]) < 1e-9)
    // A library that changes nothing leaves M = 1, so the gains are only the roots of the spatial
    // ones. The difference is small where the voice is far above the noise.
    let error = power(neural[4], minus: spatial[4]) / power(spatial[4])
    #expect(error < 0.01 && error > 1e-9)
  }

  @Test func enhancedSoundLimitsTheSpeech() throws {
    let input = try field()
    let full = try stems(try library(""), input)
    let quarter = try stems(
      try library("for (int i = 0; i < 480; i++) y[i] *= 0.25f;"), input)
    let louder = try stems(try library("for (int i = 0; i < 480; i++) y[i] *= 3;"), input)
    // The gain is the root of M g; M is at most 1. In pauses, the gain does not depend on M.
    #expect(abs(power(quarter[4]) / power(full[4]) - 0.25) < 0.02)
    #expect(power(louder[4], minus: full[4]) / power(full[4]) < 1e-4)
  }

  @Test(
    arguments: [
      ("if (s->blocks > 50) abort();", "signal 6"),
      ("if (s->blocks > 50) *(volatile int *)8 = 1;", "signal 11"),
      ("if (s->blocks > 50) y[3] = NAN;", "not finite"),
      ("if (s->blocks > 50) for (;;) pause();", "did not answer"),
      ("if (s->blocks > 50) _exit(0);", "exit code 0"),
      ("close(0);", "the process that runs"),
    ])
  func failuresAreOneLine(action: String, reason: String) throws {
    let run = try run(try library(action), try field())
    #expect(run.exitCode == 1)
    #expect(run.errors.contains(reason), "\(run.errors)")
    #expect(run.errors.filter { $0 == "\n" }.count == 1)
    #expect(access(folder.file("out.wav"), F_OK) != 0)
  }

  @Test func unusableFilesAreRefused() throws {
    let refused = try library("", creates: "return 0;")
    #expect(try run(refused, try field()).errors.contains("does not accept the model"))
    _ = try folder.write([1, 2, 3], to: "libdeepfilter.so")
    let broken = try run(folder.path, try field())
    #expect(broken.exitCode == 1)
    #expect(broken.errors.contains("cannot load the library"))
    #expect(broken.errors.filter { $0 == "\n" }.count == 1)
  }

  @Test func otherSampleRatesAreRefused() throws {
    let (separator, input) = (try library(""), try field(sampleRate: 44_100))
    let refused = try run(separator, input)
    #expect(refused.exitCode == 1)
    #expect(refused.errors.contains("48000 Hz") && refused.errors.contains("44100 Hz"))
    #expect(try run(separator, input, ["--rate", "48000"]).exitCode == 0)
  }

  @Test func standardOutputOfTheLibraryDoesNoHarm() throws {
    let input = try field(frames: 20_000)
    let quiet = try stems(try library(""), input)
    let loud = try stems(try library("if (write(1, x, 99) + write(2, x, 99) < 0) abort();"), input)
    #expect(quiet == loud)
  }

  /// The library writes its process ID and then hangs.
  @Test func childEndsWithAKilledParent() throws {
    let name = folder.file("id")
    let separator = try library(
      """
      char text[20]; int file = open("\(name)", O_CREAT | O_WRONLY, 0600);
      if (write(file, text, sprintf(text, "%d\\n", getpid())) < 0) abort();
      close(file);
      for (;;) pause();
      """)
    let program = try RunningProgram(
      [
        Stillstage.path, "render", try field(), "-o", folder.file("out.wav"), "--layout", "foa",
        "--mix", "cinematic", "--separator", "neural",
      ], environment: ["STILLSTAGE_SEPARATOR": separator])
    var child: Int32?
    #expect(
      waitUntil(seconds: 20) {
        let text = (try? readFile(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        child = text.hasSuffix("\n") ? Int32(text.dropLast()) : nil
        return child != nil
      })
    kill(program.pid, SIGKILL)
    let id = try #require(child)
    // A process that has ended but is not collected yet has no command line.
    #expect(
      waitUntil(seconds: 2) { (try? readFile("/proc/\(id)/cmdline"))?.isEmpty ?? true })
  }
}

/// The C compiler; nil if there is none.
private let compiler: String? = ["/usr/bin/gcc", "/usr/bin/cc", "/usr/bin/clang"].first {
  (path: String) in access(path, X_OK) == 0
}
