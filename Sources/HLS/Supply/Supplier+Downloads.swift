// SPDX-License-Identifier: Apache-2.0

extension Supplier {
  /// Wait before a request is repeated because the server gave no complete answer, in s. The wait
  /// does not increase after repeated failures, so that fetching resumes soon after the connection
  /// has returned.
  static let lineWait = 0.2
  /// Lower limit for `silence` while the connection is lost, in s.
  private static let leastSilence = 0.6
  /// Duration of a connection loss, in s, after which the usual silence is allowed again. After
  /// this time, the server may be slow rather than unreachable.
  private static let longestLoss = 40.0

  /// Time without a byte after which a download fails, in s. The time is usually shorter during the
  /// first `longestLoss` s of a connection loss, because a request may then never be answered.
  var silence: Double {
    guard let offlineSince, now - offlineSince < Self.longestLoss else {
      return conditions.silence
    }
    return min(conditions.silence, max(Self.leastSilence, 3 * longestFirstByte))
  }

  /// Updates `offlineSince` after a failure. If the request for a segment timed out, the connection
  /// counts as lost. If `isOfTheLine` is false, the connection counts as intact.
  mutating func noteConnection(after problem: LoadProblem) {
    if !problem.isOfTheLine {
      offlineSince = nil
    } else if case .fetch(.timedOut) = problem {
      offlineSince = offlineSince ?? now
    }
  }

  /// Downloads a segment. The adaptation rule receives the timing of a completed or cancelled
  /// download.
  ///
  /// - Parameter number: the queue number of the segment to replace; nil for a new segment.
  mutating func download(
    _ segment: MediaSegment, _ rendition: Int, in timeline: RenditionTimeline,
    replacing number: Int?
  ) -> Outcome {
    let bits = presentation.ladder[rendition].bitRate * segment.duration
    var progress = DownloadProgress(requestTime: now, totalBytes: bits / 8)
    var (rule, segments) = (rule, segments)
    var course = DownloadCourse.goOn
    let silence = silence
    var isSilent = false
    var latest = FetchTiming()
    var newest = (bytes: 0, time: now)
    defer { (self.rule, self.segments) = (rule, segments) }
    do throws(LoadProblem) {
      let (supplied, timing) = try segments.load(segment, in: timeline.address) { timing in
        guard goesOn else { return false }
        tellStart()
        latest = timing
        let now = now
        if timing.bytes > newest.bytes { newest = (timing.bytes, now) }
        if let expected = timing.expected { progress.totalBytes = Double(expected) }
        if timing.firstByte != nil { progress.received(Double(timing.bytes), at: now) }
        course = rule.course(
          of: progress, rendition: rendition, secondsLeft: number.flatMap { secondsLeft($0) },
          situation(isWaiting: false))
        isSilent = now - newest.time > silence
        return course == .goOn && !isSilent
      }
      longestFirstByte = max(longestFirstByte * 0.9, timing.firstByte ?? 0)
      rule.record(SegmentTiming(timing, end: now), rendition: rendition)
      supply.observer?(
        SegmentSupply.Arrival(
          segment: segment, playlist: timeline.playlist, address: timeline.address,
          supplied: supplied, rendition: rendition))
      return .here(supplied)
    } catch {
      guard error.isOwn else { return .failed(error) }
      rule.record(SegmentTiming(latest, end: now, isPartial: true), rendition: rendition)
      switch course {
      case .abandon(let lower): return .abandoned(rendition: lower)
      case .giveUp: return .givenUp
      case .goOn:
        return isSilent
          ? .failed(.fetch(.timedOut(seconds: silence))) : .ended
      }
    }
  }

  /// Returns the time that is left for a replacement to arrive, in s; negative if it is too late.
  /// The time is infinite before playback may start, and 0 if the segment is no longer queued. The
  /// result is never nil.
  private func secondsLeft(_ number: Int) -> Double? {
    let snapshot = queue.snapshot
    guard let queued = snapshot.segment(number) else { return 0 }
    guard snapshot.mayStart else { return .infinity }
    return queued.end - 0.75 - snapshot.read
  }
}

extension SegmentTiming {
  fileprivate init(_ timing: FetchTiming, end: Double, isPartial: Bool = false) {
    self.init(
      end: end, bytes: timing.bytes, seconds: timing.seconds,
      firstByteSeconds: min(timing.firstByte ?? timing.seconds, timing.seconds),
      isPartial: isPartial)
  }
}
