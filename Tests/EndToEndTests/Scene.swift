// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// A first-order source straight ahead, and the output of `stillstage render` for heads that do not
/// move. It is the reference for live recordings.
///
/// The sound at the ears is linear in the cosine and the sine of the head's yaw, so three renders
/// determine every yaw.
final class Scene: Sendable {
  static let sampleRate = 48_000
  let path: String
  let frames: Int
  /// Two ears x frames, for a head that looks ahead, 90 degrees to the left and 90 degrees to the
  /// right.
  let ahead: [[Float]]
  let lookingLeft: [[Float]]
  let lookingRight: [[Float]]
  /// The components of the renders: ahead = whole + front; lookingLeft = whole + side.
  let whole: [[Float]]
  let front: [[Float]]
  let side: [[Float]]

  /// White noise, of which every part is different and so identifies its time.
  static let noise = noiseScene.scene
  /// A tone of 1 kHz, in which a click is easy to detect.
  static let tone = toneScene.scene

  init(named name: String, seconds: Int, _ sample: (Int) -> Float) throws {
    frames = seconds * Self.sampleRate
    path = sceneFolder.file(name + ".wav")
    let mono = (0..<frames).map(sample)
    let silence = [Float](repeating: 0, count: frames)
    try FloatWAV(rate: Self.sampleRate, channels: [mono, silence, silence, mono]).write(to: path)
    ahead = try Self.render(path, yaw: 0, frames)
    lookingLeft = try Self.render(path, yaw: 90, frames)
    lookingRight = try Self.render(path, yaw: -90, frames)
    let (a, l, r) = (ahead, lookingLeft, lookingRight)
    whole = (0..<2).map { ear in zip(l[ear], r[ear]).map { 0.5 * ($0 + $1) } }
    side = (0..<2).map { ear in zip(l[ear], r[ear]).map { 0.5 * ($0 - $1) } }
    let w = whole
    front = (0..<2).map { ear in zip(a[ear], w[ear]).map { $0 - $1 } }
  }

  private static func render(_ path: String, yaw: Int, _ frames: Int) throws -> [[Float]] {
    let output = path + ".render.wav"
    let run = try ProgramRun.of(
      Product.stillstage, ["render", path, "-o", output, "--pose", "\(yaw),0,0"],
      timeoutSeconds: 120)
    guard run.exitCode == 0 else { throw Unrendered(text: run.errors) }
    defer { unlink(output) }
    return try FloatWAV(reading: output).channels.map { Array($0.prefix(frames)) }
  }

  struct Unrendered: Error {
    let text: String
  }
}

/// The built executables: next to the test program, or in the folder STILLSTAGE_BIN.
enum Product {
  static var stillstage: String { folder + "/stillstage" }
  /// The engine with counters in its render call.
  static var counted: String { ProgramRun.builtProducts + "/stillstage-counted" }

  private static var folder: String {
    getenv("STILLSTAGE_BIN").map { String(cString: $0) } ?? ProgramRun.builtProducts
  }
}

private let noiseScene = SceneHolder {
  var generator = SeededGenerator(7)
  return try Scene(named: "noise", seconds: 30) { _ in 0.05 * Float(generator.gaussian()) }
}

private let toneScene = SceneHolder {
  try Scene(named: "tone", seconds: 15) {
    0.2 * Float(sin(2 * Double.pi * 1000 * Double($0 % 48) / 48_000))
  }
}

private struct SceneHolder {
  let scene: Scene

  init(_ make: () throws -> Scene) {
    do {
      scene = try make()
    } catch { fatalError("the scene cannot be made: \(error)") }
  }
}

/// The folder of the scenes, which is removed when the process ends.
private let sceneFolder: TemporaryFolder = {
  atexit { _ = try? ProgramRun.of("rm", ["-rf", scenePath]) }
  return TemporaryFolder()
}()
private var scenePath: String { sceneFolder.path }
