// SPDX-License-Identifier: Apache-2.0

public import Geometry
private import Glibc

/// A listener with a simulated head tracker, who follows the instructions of the program.
public struct SimulatedListener {
  public enum Failure: Error {
    case wrongPose(wanted: YawPitchRoll, lines: [String])
  }

  private let program: [String]
  private let environment: [String: String?]
  private let show: (Quaternion) -> Void

  /// - Parameters:
  ///   - program: the program, and words before its command.
  ///   - environment: changes to the environment of the program.
  ///   - show: makes the tracker send a sample of this head (`headToWorld`). It is called every
  ///     10 ms while the program runs.
  public init(
    _ program: [String], environment: [String: String?] = [:],
    show: @escaping (Quaternion) -> Void
  ) {
    (self.program, self.environment, self.show) = (program, environment, show)
  }

  /// Runs `calibrate` in the poses that it asks for; returns the exit code, nil after 120 s, and
  /// what the program wrote.
  public func calibrate(_ id: String) throws -> (exitCode: Int32?, lines: [String]) {
    let run = try RunningProgram(program + ["calibrate", id], environment: environment)
    var exitCode: Int32?
    for _ in 0..<12_000 where exitCode == nil {
      show(Self.wantedPose(run.lines.map(\.text)).quaternion)
      usleep(10_000)
      exitCode = run.wait(seconds: 0)
    }
    return (exitCode, run.lines.map(\.text))
  }

  private static func wantedPose(_ lines: [String]) -> YawPitchRoll {
    func isAsked(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
    if isAsked("Turn to the left") { return YawPitchRoll(yaw: 90) }
    if isAsked("Look ahead again") { return YawPitchRoll() }
    return YawPitchRoll(pitch: isAsked("Look up") ? 35 : 0)
  }

  /// Runs `trackers watch` with a head that looks ahead and then holds each pose, and waits until
  /// the program shows the pose within 0.2 degrees.
  ///
  /// - Throws: `wrongPose` if the program does not show a pose within 20 s.
  public func watch(_ id: String, _ poses: [YawPitchRoll]) throws {
    let run = try RunningProgram(program + ["trackers", "watch", id], environment: environment)
    for pose in [YawPitchRoll()] + poses {
      var isShown = false
      for _ in 0..<2000 where !isShown {
        show(pose.quaternion)
        usleep(10_000)
        isShown = run.lines.last.map { Self.shows($0.text, pose) } ?? false
      }
      guard isShown else {
        throw Failure.wrongPose(wanted: pose, lines: run.lines.suffix(5).map(\.text))
      }
    }
    kill(run.pid, SIGINT)
    run.wait(seconds: 20)
  }

  private static func shows(_ line: String, _ pose: YawPitchRoll) -> Bool {
    let numbers = line.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 5 else { return false }
    let shown = YawPitchRoll(yaw: numbers[1], pitch: numbers[2], roll: numbers[3])
    return Quaternion.angle(between: shown.quaternion, pose.quaternion) < 0.2 * .pi / 180
  }
}
