// SPDX-License-Identifier: Apache-2.0

/// What a tracker's samples are fed to, from any thread.
public protocol HeadSampleSink: AnyObject, Sendable {
  /// Takes a sample.
  ///
  /// - Returns: true where the tracker's reference frame jumped before the sample.
  @discardableResult
  func push(_ sample: HeadSample) -> Bool

  /// Counts a report that holds no sample.
  func reject()

  /// The next sample comes from a tracker that has just been switched on.
  func beginReference()

  /// The next sample comes after a pause, in the reference frame that was.
  func resumeReference()

  /// The tracker's button was pressed: where the head looks becomes the front.
  func recenter()
}

/// Feeds the samples of a device's tracker to the head's source, whose stage then stands still in
/// the device: a screen, a seat.
public final class DeviceSampleSink: HeadSampleSink {
  private let head: HeadPoseSource

  public init(for head: HeadPoseSource) { self.head = head }

  @discardableResult
  public func push(_ sample: HeadSample) -> Bool { head.pushDevice(sample) }

  public func beginReference() { head.beginDeviceReference() }

  public func resumeReference() { head.resumeDeviceReference() }

  /// Does nothing: the head's status counts the head's reports.
  public func reject() {}

  /// Does nothing: the front is where the head looks.
  public func recenter() {}
}
