// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The format of recorded sound, and the form in which the file stores it.
public struct RecordingFormat: Sendable, Equatable {
  /// The numeric format of the samples in the file.
  public enum Codec: Sendable, Equatable {
    /// 24-bit signed integers with a full scale of 2^23.
    case pcm24
    /// 32-bit floating point.
    case float
  }

  /// How the stereo track of a movie is derived from a first-order soundfield.
  public enum Stereo: Sendable, Equatable {
    /// Left is (W + Y) / 2 and right is (W - Y) / 2: cardioids that face left and right.
    case wy
    /// Left is a cardioid that faces 55 degrees to the left, and right is its mirror image.
    case xy
  }

  public var layout: ChannelLayout
  /// The sample rate, in Hz.
  public var sampleRate: Int
  public var codec: Codec
  public var stereo: Stereo

  public init(
    layout: ChannelLayout, sampleRate: Int, codec: Codec = .pcm24, stereo: Stereo = .wy
  ) {
    self.layout = layout
    self.sampleRate = sampleRate
    self.codec = codec
    self.stereo = stereo
  }

  public var channels: Int { layout.channelCount }

  var bytesPerFrame: Int { channels * (codec == .pcm24 ? 3 : 4) }

  /// Whether the sound is a first-order soundfield in ACN order and SN3D scale without head-locked
  /// stereo.
  var isFirstOrder: Bool {
    layout == .ambisonics(order: 1, convention: .ambiX, headLocked: false)
  }
}

/// The kind of file that stores a recording.
public enum RecordingContainer: Sendable, Equatable, CaseIterable {
  /// A QuickTime movie (`.mov`, `.qta`).
  case movie
  /// RIFF/WAVE, or RF64 beyond 4 GiB (`.wav`).
  case wave
  /// FLAC with 24 bits per sample (`.flac`).
  case flac
  /// Matroska with PCM (`.mka`).
  case matroska

  /// Selects the container by the file name's extension. Returns nil if no container has the
  /// extension.
  public init?(path: String) {
    let name = path.split(separator: "/").last ?? ""
    guard let dot = name.lastIndex(of: ".") else { return nil }
    switch name[name.index(after: dot)...].lowercased() {
    case "mov", "qta": self = .movie
    case "wav": self = .wave
    case "flac": self = .flac
    case "mka": self = .matroska
    default: return nil
    }
  }

  /// The file name extensions that select a container. Upper case is also accepted.
  public static let suffixes = [".mov", ".qta", ".wav", ".flac", ".mka"]

  /// The sample rates that a recording can have, in Hz. A movie with a first-order soundfield
  /// allows only some of them.
  public static let sampleRates = 8000...384_000
  /// The largest number of channels that a recording can have.
  public static let maximumChannels = 66
}

/// The direction of arrival and the number of lost frames in a part of a recording.
public struct RecordingNote: Sendable, Equatable {
  /// The azimuth of the direction of arrival in degrees, positive to the left; nil if it is
  /// unknown.
  public var azimuthDegrees: Double?
  /// The elevation of the direction of arrival in degrees, positive upwards; nil if it is unknown.
  public var elevationDegrees: Double?
  /// The number of lost frames, which were replaced with silence.
  public var lostFrames = 0

  public init(
    azimuthDegrees: Double? = nil, elevationDegrees: Double? = nil, lostFrames: Int = 0
  ) {
    self.azimuthDegrees = azimuthDegrees
    self.elevationDegrees = elevationDegrees
    self.lostFrames = lostFrames
  }
}

/// Counts of the frames and samples of a recording.
public struct RecordingCounts: Sendable, Equatable {
  /// The number of appended frames.
  public var frames: Int64 = 0
  /// The number of frames that can be read from the file.
  public var storedFrames: Int64 = 0
  /// The number of appended samples that were not finite and became 0.
  public var invalidSamples: Int64 = 0
  /// The number of samples outside the range of `pcm24`; 0 for the codec `float`.
  public var clippedSamples: Int64 = 0

  public init() {}
}
