// SPDX-License-Identifier: Apache-2.0

/// A receiver of tracker samples, callable from any thread.
public protocol HeadSampleSink: AnyObject, Sendable {
  /// Takes a sample.
  ///
  /// - Returns: true if the tracker's reference frame jumped before the sample.
  @discardableResult
  func push(_ sample: HeadSample) -> Bool

  /// Counts an invalid report or raw reading.
  func reject()

  /// Announces that the next sample is in a new reference frame, unrelated to the previous one.
  func beginReference()

  /// Announces that the next sample follows a pause, in the same reference frame as before.
  func resumeReference()

  /// Handles a press of the tracker's recentring button.
  func recenter()

  /// Whether recentring also assumes that the head is upright, and corrects the samples
  /// accordingly; false by default.
  var levelsOnRecenter: Bool { get set }
}

extension HeadSampleSink {
  public var levelsOnRecenter: Bool {
    get { false }
    set {}
  }
}

/// Feeds the samples of a device's tracker to a `HeadPoseSource`. The stage then stands still
/// relative to the device.
public final class DeviceSampleSink: HeadSampleSink {
  private let head: HeadPoseSource

  public init(for head: HeadPoseSource) { self.head = head }

  @discardableResult
  public func push(_ sample: HeadSample) -> Bool { head.pushDevice(sample) }

  public func beginReference() { head.beginDeviceReference() }

  public func resumeReference() { head.resumeDeviceReference() }

  /// Does nothing: the head's status counts only the head's reports.
  public func reject() {}

  /// Does nothing: only the head's direction sets the front.
  public func recenter() {}
}
