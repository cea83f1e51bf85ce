// SPDX-License-Identifier: Apache-2.0

/// Consecutive frames for one call of `RecordingBody.write`.
struct RecordingSegment {
  /// The samples, as frames x channels. All are finite. For `pcm24`, they are multiples of 2^-23
  /// from -1 to 1 - 2^-23.
  let samples: UnsafeBufferPointer<Float>
  let frames: Int
  let note: RecordingNote
}

/// Writes the data of a recording in the format of one container.
protocol RecordingBody: AnyObject {
  /// The greatest length of a segment in seconds; at most 1.
  var segmentSeconds: Double { get }
  /// The number of frames that can be read from the file.
  var storedFrames: Int64 { get }

  /// Writes the bytes that precede the first segment.
  func begin(_ output: RecordingOutput) throws(RecordingError)
  /// Writes a segment. An encoder may hold back some of its frames. Afterwards, the file can be
  /// read even if the program is killed.
  func write(_ segment: RecordingSegment, to output: RecordingOutput) throws(RecordingError)
  /// Completes the file.
  ///
  /// - Parameters:
  ///   - tuning: the parameters of the Audio Mix as a JSON object.
  ///   - isWhole: whether every segment was written. If not, the files of some containers stay
  ///     incomplete.
  func finish(
    _ output: RecordingOutput, tuning: String, isWhole: Bool
  ) throws(RecordingError)
}

/// A recording file that collects blocks into segments and passes them to its `body`.
final class SegmentedRecording: RecordingFile, @unchecked Sendable {
  let format: RecordingFormat
  private(set) var counts = RecordingCounts()
  var note = RecordingNote()
  var tuning = #"{"version":1}"#
  var storesTuning: Bool { body is MovieBody && format.isFirstOrder }
  private let body: any RecordingBody
  private let output: RecordingOutput
  /// The samples that are not yet in a segment: frames x channels.
  private let pending: UnsafeMutableBufferPointer<Float>
  private var pendingSamples = 0
  private var failure: RecordingError?
  private var isFinished = false
  /// The file's size and number of stored frames at two earlier times, for `bytesPerSecond`.
  private var earlier: (size: Int64, frames: Int64) = (0, 0)
  private var later: (size: Int64, frames: Int64) = (0, 0)
  /// The duration of stored sound, in seconds, after which `earlier` and `later` advance.
  private static let recentSeconds: Int64 = 10

  /// Writes the start of the file.
  ///
  /// - Throws: any error that `append` can throw. The file is then removed.
  init(
    format: RecordingFormat, body: any RecordingBody, output: RecordingOutput
  ) throws(RecordingError) {
    self.format = format
    self.body = body
    self.output = output
    let frames = max(1, Int(body.segmentSeconds * Double(format.sampleRate)))
    pending = .allocate(capacity: frames * format.channels)
    pending.initialize(repeating: 0)
    do { try body.begin(output) } catch {
      output.remove()
      throw error
    }
  }

  deinit {
    output.close()
    pending.deallocate()
  }

  var freeBytes: Int64? { output.freeBytes }

  var bytesPerSecond: Double {
    let rate = Double(format.sampleRate)
    guard body.storedFrames > 0 else { return rate * Double(format.bytesPerFrame) }
    let mean = Double(output.size) / Double(body.storedFrames)
    let recent = body.storedFrames - earlier.frames
    guard recent > 0 else { return mean * rate }
    return max(mean, Double(output.size - earlier.size) / Double(recent)) * rate
  }

  /// Advances `earlier` and `later` if enough sound has been stored since `later`.
  private func markProgress() {
    guard body.storedFrames - later.frames >= Self.recentSeconds * Int64(format.sampleRate) else {
      return
    }
    (earlier, later) = (later, (output.size, body.storedFrames))
  }

  func append(_ samples: UnsafeBufferPointer<Float>) throws(RecordingError) {
    precondition(
      samples.count.isMultiple(of: format.channels),
      "\(samples.count) samples are not a whole number of \(format.channels)-channel frames")
    if let failure { throw failure }
    guard !isFinished else { return }
    var done = 0
    while done < samples.count {
      let count = min(samples.count - done, pending.count - pendingSamples)
      take(UnsafeBufferPointer(rebasing: samples[done..<done + count]))
      done += count
      counts.frames += Int64(count / format.channels)
      if pendingSamples == pending.count { try flush() }
    }
  }

  func flush() throws(RecordingError) {
    if let failure { throw failure }
    guard pendingSamples > 0 else { return }
    let segment = RecordingSegment(
      samples: UnsafeBufferPointer(rebasing: pending[..<pendingSamples]),
      frames: pendingSamples / format.channels, note: note)
    do { try body.write(segment, to: output) } catch {
      failure = error
      throw error
    }
    pendingSamples = 0
    note = RecordingNote()
    noteStored()
    markProgress()
  }

  func finish() throws(RecordingError) {
    guard !isFinished else { return }
    isFinished = true
    let wasWhole = failure == nil
    var latest: RecordingError?
    if wasWhole {
      do { try flush() } catch { latest = error }
    }
    do {
      try body.finish(output, tuning: tuning, isWhole: failure == nil)
      try output.synchronise()
    } catch { latest = latest ?? error }
    noteStored()
    if !output.hasSound, (failure ?? latest) != nil { output.remove() }
    output.close()
    if wasWhole, let latest { throw latest }
  }

  /// Updates `counts.storedFrames` and `output.hasSound`. Once the file contains sound, the file
  /// that it replaces is removed.
  private func noteStored() {
    counts.storedFrames = body.storedFrames
    output.hasSound = counts.storedFrames > 0
    if output.hasSound { output.discardReplaced() }
  }

  /// Adds samples to `pending`, which must have enough space for them. Samples that are not finite
  /// become 0. For `pcm24`, the samples are rounded and limited to the range of the codec.
  private func take(_ samples: UnsafeBufferPointer<Float>) {
    let place = UnsafeMutableBufferPointer(rebasing: pending[pendingSamples...])
    for index in samples.indices {
      var sample = samples[index]
      if !sample.isFinite {
        counts.invalidSamples += 1
        sample = 0
      }
      if format.codec == .pcm24 {
        let value = (sample * 0x1p23).rounded(.toNearestOrEven)
        let nearest = min(max(value, -0x1p23), 0x1p23 - 1)
        if nearest != value { counts.clippedSamples += 1 }
        sample = nearest * 0x1p-23
      }
      place[index] = sample
    }
    pendingSamples += samples.count
  }
}
