// SPDX-License-Identifier: Apache-2.0

public import Ambisonics

/// The sound of a recording and its form in the file. It does not change during the recording.
public struct RecordingFormat: Sendable, Equatable {
  /// The form of each sample in the file.
  public enum Codec: Sendable, Equatable {
    /// 24-bit signed integers. Full scale is 2^23, so 16-bit or 24-bit sound that was converted to
    /// Float32 keeps its values.
    case pcm24
    /// 32-bit floating point. Every finite sample keeps its bits.
    case float
  }

  /// The stereo track of a movie with a first-order soundfield.
  public enum Stereo: Sendable, Equatable {
    /// Left is (W + Y) / 2 and right is (W - Y) / 2: cardioids that face left and right.
    case wy
    /// Two cardioids that face 55 degrees to the left and 55 degrees to the right.
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

  /// Bytes of one uncompressed frame.
  var bytesPerFrame: Int { channels * (codec == .pcm24 ? 3 : 4) }

  /// Whether the sound is a first-order soundfield in ACN order and SN3D scale.
  var isFirstOrder: Bool {
    layout == .ambisonics(order: 1, convention: .ambiX, headLocked: false)
  }
}

/// The kind of file that stores a recording. The extension of the file name selects it.
public enum RecordingContainer: Sendable, Equatable, CaseIterable {
  /// A QuickTime movie (`.mov`, `.qta`).
  case movie
  /// RIFF/WAVE, which becomes RF64 beyond 4 GiB (`.wav`).
  case wave
  /// FLAC with 24 bits (`.flac`).
  case flac
  /// Matroska with PCM (`.mka`).
  case matroska

  /// Returns the container that a file name's extension selects; nil if the extension is unknown.
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

  /// The file name suffixes of all containers, for messages.
  public static let suffixes = [".mov", ".qta", ".wav", ".flac", ".mka"]

  /// The range of sample rates of a recording, in Hz. A movie with a first-order soundfield allows
  /// only some of them.
  public static let sampleRates = 8000...384_000
  /// The largest number of channels of a recording.
  public static let maximumChannels = 66
}

/// Facts about a part of a recording, for the metadata track of a movie.
public struct RecordingNote: Sendable, Equatable {
  /// Azimuth of the direction of arrival in degrees, positive to the left; nil if it is unknown.
  public var azimuthDegrees: Double?
  /// Elevation of the direction of arrival in degrees, positive upwards; nil if it is unknown.
  public var elevationDegrees: Double?
  /// The number of frames that were lost and replaced with silence.
  public var lostFrames = 0

  public init(
    azimuthDegrees: Double? = nil, elevationDegrees: Double? = nil, lostFrames: Int = 0
  ) {
    self.azimuthDegrees = azimuthDegrees
    self.elevationDegrees = elevationDegrees
    self.lostFrames = lostFrames
  }
}

/// Numbers of frames and samples in a recording so far.
public struct RecordingCounts: Sendable, Equatable {
  /// The number of frames that were appended.
  public var frames: Int64 = 0
  /// The number of frames that are in the file and can be read from it.
  public var storedFrames: Int64 = 0
  /// The number of samples that were not finite and became silence.
  public var invalidSamples: Int64 = 0
  /// The number of samples outside the range of `pcm24`, which became the nearest value in that
  /// range. For the codec `float`, it is 0.
  public var clippedSamples: Int64 = 0

  public init() {}
}
