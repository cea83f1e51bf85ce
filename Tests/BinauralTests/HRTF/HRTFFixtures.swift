// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Binaural

/// A private directory with the files of `Tests/Fixtures/make_sofa.py`, created once per run.
struct HRTFFixtures {
  static let shared = HRTFFixtures()

  let directory: String

  /// The reason why the files could not be created; nil if they exist.
  let failure: String?

  private init() {
    var template = Array("/tmp/stillstage-hrtf-XXXXXX".utf8CString)
    let made = mkdtemp(&template).map { String(cString: $0) }
    directory = made ?? ""
    let script = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let process = CapturedProgram(
      ["/usr/bin/python3", script + "/Fixtures/make_sofa.py", directory],
      timeoutSeconds: 60, maximumBytes: 1 << 16)
    let ending = process.run()?.ending
    failure =
      ending == .exited(0)
      ? nil : "cannot make SOFA files (\(String(describing: ending))): apt install python3-h5py"
    atexit { HRTFFixtures.shared.removeAll() }
  }

  /// Returns the path of a created file.
  func path(_ name: String) throws -> String {
    if let failure { throw FixtureError(text: failure) }
    return "\(directory)/\(name).sofa"
  }

  /// Returns a path for a file that a test creates.
  func freshPath(_ name: String) -> String { "\(directory)/own-\(name)" }

  /// Writes bytes to a file for a test and returns its path.
  func write(_ bytes: [UInt8], _ name: String, mode: mode_t = 0o600) throws -> String {
    let path = freshPath(name)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard file >= 0 else { throw FixtureError(text: "cannot write \(path)") }
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
      throw FixtureError(text: "cannot write \(path)")
    }
    return path
  }

  /// Writes an executable shell script that replaces the SOFA reader, and returns its path.
  func script(_ text: String, _ name: String) throws -> String {
    try write(Array("#!/bin/sh\n\(text)\n".utf8), name, mode: 0o700)
  }

  private func removeAll() {
    guard !directory.isEmpty else { return }
    for name in SystemFile.names(in: directory) ?? [] {
      unlink("\(directory)/\(name)")
      if name.hasPrefix("own-") { rmdir("\(directory)/\(name)") }
    }
    rmdir(directory)
  }
}

struct FixtureError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// Returns all bytes of a file.
func fileBytes(_ path: String) throws -> [UInt8] {
  do { return try SystemFile.contents(path, limit: 1 << 26) } catch {
    throw FixtureError(text: "cannot read \(path): \(error)")
  }
}

/// Returns the path of the default set; libmysofa1 must be installed.
func defaultSofa() throws -> String {
  guard let path = HRTFLocator().defaultPath() else {
    throw FixtureError(text: "no default.sofa: apt install libmysofa1")
  }
  return path
}

/// Returns the transfer function of an impulse response at a frequency, with a delay in samples.
func transfer(
  _ response: ArraySlice<Float>, delay: Double = 0, sampleRate: Double, frequency: Double
) -> (re: Double, im: Double) {
  let step = -2 * Double.pi * frequency / sampleRate
  var (re, im) = (0.0, 0.0)
  for (index, sample) in response.enumerated() {
    let phase = step * (Double(index) + delay)
    re += Double(sample) * cos(phase)
    im += Double(sample) * sin(phase)
  }
  return (re, im)
}

/// Returns |a - b| in dB.
func differenceDecibels(_ a: (re: Double, im: Double), _ b: (re: Double, im: Double)) -> Double {
  20 * log10(max(hypot(a.re - b.re, a.im - b.im), 1e-30))
}
