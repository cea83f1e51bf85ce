// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CFFmpeg
import Glibc
import System

/// The reason why a baked file cannot be written.
public struct BakingError: Error, Sendable, CustomStringConvertible {
  public let path: String
  public let reason: String
  public var description: String { "cannot write '\(path)': \(reason)" }
}

/// Writes a file that contains a mix as a first-order track and as a stereo track, its tuning, and
/// copies of the other tracks of the input.
///
/// A QuickTime movie (`.mov`, `.qta`) contains the tuning in its metadata track; a Matroska file
/// (`.mka`, `.mkv`) contains it as an attachment.
///
/// ## Threading
/// An object may be used from one thread at a time.
public final class BakedFile {
  private let path: String
  private let input: String
  private let tracks: InputTracks
  private let isMovie: Bool
  private let sound: any RecordingFile
  private let soundPath: String
  private var temporary: [String]
  private var interleaved: [Float] = []

  /// The supported endings of the file name, in lower case. Upper case is also accepted.
  public static let suffixes = [".mov", ".qta", ".mka", ".mkv"]

  /// Creates a temporary file for the mix. `finish(tuning:)` creates or replaces the file at
  /// `path`.
  ///
  /// - Parameters:
  ///   - path: the file to write.
  ///   - input: the file whose sound is mixed.
  ///   - track: the number of the mixed audio track, counted from 1.
  ///   - sampleRate: the sample rate of the mix, in Hz.
  /// - Throws: `BakingError` if the name or the sample rate is not supported, or if the temporary
  ///   file or an encoder cannot be created.
  public init(
    path: String, input: String, track: Int, sampleRate: Int
  ) throws(BakingError) {
    guard let suffix = Self.suffixes.first(where: { path.lowercased().hasSuffix($0) }) else {
      throw BakingError(
        path: path, reason: "the name must end in .mov, .qta, .mka or .mkv")
    }
    guard MovieBody.stereoRates.contains(sampleRate) else {
      throw BakingError(
        path: path,
        reason: "the stereo track of a mix cannot have the recording's sample rate, \(sampleRate) "
          + "Hz; convert the recording first, for example with 'ffmpeg -i IN -ar 48000 OUT'")
    }
    (self.path, self.input) = (path, input)
    isMovie = suffix == ".mov" || suffix == ".qta"
    tracks = InputTracks(input, mixed: track)
    soundPath = Self.beside(path, ".mov")
    temporary = [soundPath]
    UnfinishedFiles.add(soundPath)
    let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    do {
      sound = try RecordingContainer.open(
        path: soundPath,
        format: RecordingFormat(layout: layout, sampleRate: sampleRate, codec: .float))
    } catch { throw BakingError(path: path, reason: Self.text(error)) }
  }

  deinit { abort() }

  /// Appends frames of the mix, given as four planes.
  ///
  /// - Throws: `BakingError` if the frames cannot be written.
  public func append(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>, frames: Int
  ) throws(BakingError) {
    if interleaved.count < 4 * frames { interleaved = [Float](repeating: 0, count: 4 * frames) }
    for c in 0..<4 { for i in 0..<frames { interleaved[4 * i + c] = planes[c][i] } }
    do throws(RecordingError) {
      try interleaved.withUnsafeBufferPointer { block throws(RecordingError) in
        try sound.append(UnsafeBufferPointer(rebasing: block[..<(4 * frames)]))
      }
    } catch { throw BakingError(path: path, reason: Self.text(error)) }
  }

  /// Adds the tuning and the copied tracks, and moves the complete file to `path`.
  ///
  /// - Parameter tuning: the tuning as a JSON object.
  /// - Returns: messages about tracks that could not be copied.
  /// - Throws: `BakingError` if the file cannot be completed.
  public func finish(tuning: String) throws(BakingError) -> [String] {
    do {
      sound.tuning = tuning
      try sound.finish()
      let (made, notes) = isMovie ? try movie() : try matroska(tuning)
      guard rename(made, path) == 0 else {
        throw BakingError(path: path, reason: SystemError.latest.description)
      }
      abort()
      return notes
    } catch let error as BakingError {
      throw error
    } catch let error as RecordingError {
      throw BakingError(path: path, reason: Self.text(error))
    } catch let error as MovieMerger.Failure {
      throw BakingError(path: path, reason: "cannot copy the tracks of '\(input)': \(error.reason)")
    } catch let error as TrackCopier.Failure {
      throw BakingError(path: path, reason: error.reason)
    } catch { throw BakingError(path: path, reason: "\(error)") }
  }

  /// Removes the temporary files. The file at `path` does not change.
  public func abort() {
    for file in temporary {
      unlink(file)
      UnfinishedFiles.forget(file)
    }
    temporary = []
  }

  private func movie() throws -> (made: String, notes: [String]) {
    guard tracks.hasOthers else { return (soundPath, []) }
    if Self.isPlainMovie(input) {
      let refused = try MovieMerger.add(
        from: input, except: tracks.replacedNumbers, replaced: (tracks.mixedNumber, 2),
        to: soundPath)
      return (soundPath, refused.map { "track \($0) of the input could not be copied" })
    }
    // The input is in another container or is a fragmented movie, so first copy the tracks that are
    // not replaced to a movie without fragments.
    let copied = Self.beside(path, ".mov")
    temporary.append(copied)
    UnfinishedFiles.add(copied)
    let result = try TrackCopier.copy([others], to: copied, format: "mov")
    let lost = result.refused + (try addTracks(result.copied, of: copied))
    return (soundPath, lost.map { "\($0) of the input could not be copied to the movie" })
  }

  /// Adds the tracks of a movie that `TrackCopier` has written. `names` describes these tracks.
  /// Returns the descriptions of the tracks that cannot be added.
  private func addTracks(_ names: [String], of movie: String) throws -> [String] {
    guard Self.isPlainMovie(movie) else { return names }
    let refused = try MovieMerger.add(from: movie, except: [], replaced: (0, 0), to: soundPath)
    // FFmpeg numbers the tracks of a movie from 1, in order.
    return refused.map { number in
      names.indices.contains(Int(number) - 1) ? names[Int(number) - 1] : "track \(number)"
    }
  }

  private func matroska(_ tuning: String) throws -> (made: String, notes: [String]) {
    let made = Self.beside(path, ".mka")
    temporary.append(made)
    UnfinishedFiles.add(made)
    let mix = TrackCopier.Input(path: soundPath) {
      $0.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }
    let result = try TrackCopier.copy(
      [others, mix], to: made, format: "matroska", tuning: tuning)
    return (made, result.refused.map { "\($0) of the input could not be copied to Matroska" })
  }

  private var others: TrackCopier.Input {
    TrackCopier.Input(path: input) { [tracks] in !tracks.replaced.contains($0.pointee.index) }
  }

  private static func isPlainMovie(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return MovieIndex(descriptor: descriptor).map { !$0.isFragmented } ?? false
  }

  /// The start of the names of temporary files.
  private static let mark = ".stillstage-"

  /// Returns an error's text. If the text contains the path of a temporary file, returns only what
  /// follows the path.
  private static func text(_ error: RecordingError) -> String {
    // The temporary file is deleted, so the sound that it contains cannot be played.
    let text =
      switch error {
      case .diskFull(let path, _): RecordingError.diskFull(path: path, hasSound: false).description
      case .fileTooLarge(let path, _):
        RecordingError.fileTooLarge(path: path, hasSound: false).description
      default: error.description
      }
    guard let name = text.firstRange(of: mark),
      let colon = text[name.upperBound...].firstRange(of: ": ")
    else { return text }
    return String(text[colon.upperBound...])
  }

  /// Returns a path with a random name, for a hidden file in the folder of `path`.
  private static func beside(_ path: String, _ suffix: String) -> String {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let name = String(UInt64.random(in: 0 ... .max), radix: 36)
    return path[..<slash] + mark + name + suffix
  }
}
