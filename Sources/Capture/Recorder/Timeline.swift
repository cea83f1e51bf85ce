// SPDX-License-Identifier: Apache-2.0

/// Keeps a recording in step with the clock: fills gaps with silence, and drops sound for which
/// silence has already been written. Sound that arrives during a pause is left out.
///
/// Except in the first `setupSeconds` of a stream, a frame can arrive late but never early.
/// Lateness is the arrival time minus the nominal duration of the frames so far. The *base* is the
/// least lateness of the last few seconds. Frames are missing if the lateness of all blocks exceeds
/// the base by more than `threshold` for `holdSeconds`, or by more than `fineThreshold` for
/// `fineHoldSeconds`. Late blocks are held back until this is decided.
///
/// A *segment* is the sound that arrives between the opening of a stream and its loss. The first
/// blocks of a segment, and the first blocks after a pause, are held back to find the base. Blocks
/// from the first `setupSeconds` count for the base only if no later blocks are held.
///
/// All times are in seconds of CLOCK_MONOTONIC.
struct Timeline {
  /// The lateness beyond the base that counts as a gap after `holdSeconds` [s].
  static let threshold = 0.015
  /// How long blocks are held back if they are late by more than `threshold`, or if they are the
  /// first blocks after the start or a pause [s].
  static let holdSeconds = 0.3
  /// How long the first blocks after a loss are held back [s].
  static let returnHoldSeconds = 0.5
  /// The time in which a server can deliver too early while it sets up the stream [s]. PipeWire
  /// delivers the first cycle too early if the stream makes it shorten its cycles.
  static let setupSeconds = 0.1
  /// The lateness beyond the base that counts as a gap after `fineHoldSeconds` [s].
  static let fineThreshold = 0.004
  static let fineHoldSeconds = 1.0
  /// If the interval between two blocks exceeds this time, sound may be missing [s].
  static let stall = 0.05
  /// How long an open segment may deliver nothing before silence is written [s].
  static let patience = 4.0
  /// How far the silence during a loss stays behind the current time [s].
  static let margin = 0.5

  private unowned let output: any TimelineOutput
  private(set) var drift = DriftEstimator()

  private var rate = 1.0
  private var channels = 1
  /// The number of frames of the segment that have arrived or have been reported as lost.
  private var arrived: Int64 = 0
  private var base = SlidingMinimum()
  private var isOpen = false
  /// Whether no frame has been passed on since the start of the segment or the last pause.
  private var isFresh = false
  private var lastArrival = 0.0
  /// The end time of the sound that was passed to `output` [s], without `filled`. The first `begin`
  /// and each `resume` set it to the time that they receive; nil before the first of these calls.
  private var end: Double?
  /// The duration of the silence that was written after `end` [s].
  private var filled = 0.0
  /// The number of frames to leave out, because silence was written in their place.
  private var surplus = 0
  /// The cause of the present loss or of the next gap; nil if it is unknown.
  private(set) var cause: Gap.Cause?
  private(set) var isPaused = false

  private var held: [Float] = []
  private var heldLateness = Double.infinity
  private var heldSince: Double?
  /// Whether `heldLateness` comes from blocks that may have been delivered too early.
  private var isProvisional = false

  init(output: any TimelineOutput) { self.output = output }

  /// Returns true if there is no open segment, or if no frame has arrived for 0.5 s; always false
  /// during a pause.
  func isWaiting(at now: Double) -> Bool {
    !isPaused && (!isOpen || now - lastArrival > 0.5)
  }

  // MARK: Segments

  /// Begins a segment. An earlier segment must have ended.
  mutating func begin(sampleRate: Int, channels: Int, at time: Double) {
    (rate, self.channels) = (Double(sampleRate), channels)
    arrived = 0
    base = SlidingMinimum()
    drift.breakOff()
    (isOpen, isFresh) = (true, true)
    lastArrival = time
    if end == nil { end = time }
  }

  /// Ends the segment because of a loss.
  mutating func lose(_ cause: Gap.Cause) throws {
    try settle()
    isOpen = false
    self.cause = self.cause ?? cause
  }

  /// Sets the cause of the next gap, unless a cause is already known.
  mutating func suspect(_ cause: Gap.Cause) {
    self.cause = self.cause ?? cause
    suspicionEnds = .infinity
  }

  /// Notes that a suspected cause has ended. A gap in the next second still has that cause.
  mutating func clearSuspicion(at time: Double) { suspicionEnds = time + 1 }
  private var suspicionEnds = Double.infinity

  // MARK: Blocks

  /// Takes frames that arrived at `time`.
  mutating func add(_ samples: UnsafePointer<Float>, frames: Int, at time: Double) throws {
    guard isOpen else { return }
    let lateness = time - Double(arrived + Int64(frames)) / rate
    if heldSince != nil, !isFresh, time - lastArrival > Self.stall,
      lateness > heldLateness + Self.threshold
    {
      // The missing sound lies between the held blocks and this block.
      try release()
    }
    arrived += Int64(frames)
    lastArrival = time
    guard !isPaused else { return }
    if isFresh || heldSince != nil {
      hold(samples, frames, lateness, time)
      if !isFresh, lateness <= base.value + Self.fineThreshold {
        try release()
      } else if time - (heldSince ?? time) >= holdTime {
        try decide()
      }
    } else if lateness > base.value + Self.fineThreshold {
      hold(samples, frames, lateness, time)
    } else {
      note(lateness, time)
      try pass(samples, frames)
    }
  }

  /// Adds silence in place of frames that were lost after the source had recorded them. During a
  /// pause, the frames are only counted.
  mutating func addHole(frames: Int, cause: Gap.Cause, at time: Double) throws {
    guard isOpen, frames > 0 else { return }
    try settle()
    arrived += Int64(frames)
    lastArrival = time
    guard !isPaused else { return }
    let seconds = Double(frames) / rate
    try output.appendSilence(seconds: seconds)
    output.note(cause, seconds: seconds)
    if let last = end { end = last + seconds }
  }

  /// Writes silence during a loss or when an open segment has delivered nothing for `patience`.
  /// Discards a suspected cause one second after it has ended. Does nothing during a pause or while
  /// blocks are held back. Call this several times a second.
  mutating func tick(at now: Double) throws {
    guard !isPaused, let end, heldSince == nil else { return }
    if cause != nil, now > suspicionEnds, isOpen, !isFresh {
      cause = nil
      suspicionEnds = .infinity
    }
    let isLost = !isOpen || now - lastArrival > Self.patience
    let missing = now - Self.margin - end - filled
    guard isLost, missing > 0.1 else { return }
    try output.appendSilence(seconds: missing)
    filled += missing
  }

  /// Ends the recording at the time `now`.
  ///
  /// - Parameter isOverdue: whether all sound that has not arrived yet counts as missing. If false,
  ///   such sound counts as missing only during a loss or if no frame has arrived for 0.2 s.
  mutating func finish(at now: Double, isOverdue: Bool = false) throws {
    try settle()
    guard !isPaused, let end else { return }
    let missing = now - end - filled
    if isOverdue || !isOpen || now - lastArrival > 0.2, missing > 0 {
      try output.appendSilence(seconds: missing)
      filled += missing
    }
    if filled > 0 { output.note(cause ?? .device, seconds: filled) }
    filled = 0
  }

  // MARK: Pause

  /// Stops taking frames until `resume`.
  mutating func pause() throws {
    guard !isPaused else { return }
    try settle()
    if filled > 0 { output.note(cause ?? .device, seconds: filled) }
    (filled, surplus) = (0, 0)
    isPaused = true
  }

  mutating func resume(at now: Double) {
    guard isPaused else { return }
    isPaused = false
    suspicionEnds = .infinity
    end = now
    if isOpen {
      // A cause from before or during the pause does not apply to the sound after it.
      cause = nil
      isFresh = true
      resumed = true
    }
  }
  private var resumed = false

  // MARK: Held blocks

  /// How long blocks are held back before `decide` is called [s].
  private var holdTime: Double {
    if isFresh { return cause == nil ? Self.holdSeconds : Self.returnHoldSeconds }
    let isCertain = heldLateness > base.value + Self.threshold
    return isCertain ? Self.holdSeconds : Self.fineHoldSeconds
  }

  private mutating func hold(
    _ samples: UnsafePointer<Float>, _ frames: Int, _ lateness: Double, _ time: Double
  ) {
    if heldSince == nil {
      heldSince = time
      heldLateness = .infinity
      isProvisional = isFresh
    }
    held += UnsafeBufferPointer(start: samples, count: frames * channels)
    if isProvisional, time - (heldSince ?? time) >= Self.setupSeconds {
      heldLateness = .infinity
      isProvisional = false
    }
    heldLateness = min(heldLateness, lateness)
  }

  /// Passes on the held blocks without waiting for more. Call this before a hole, a loss, a pause
  /// or the end.
  private mutating func settle() throws {
    guard heldSince != nil else { return }
    let isCertain = isFresh || heldLateness > base.value + Self.threshold
    if isCertain { try decide() } else { try release() }
  }

  /// Writes silence if sound is missing before the held blocks, then passes the blocks on.
  private mutating func decide() throws {
    let frames = held.count / channels
    let first = Double(arrived - Int64(frames)) / rate + heldLateness
    var gap = first - (end ?? first)
    if end == nil || resumed, filled == 0 { gap = 0 }
    // A source may take some time to start, so the recording begins with its first frame.
    if isFresh, cause == nil, filled == 0 { gap = 0 }
    let missing = gap - filled
    if missing > 0 {
      try output.appendSilence(seconds: missing)
    } else if missing < 0 {
      surplus += Int((-missing * rate).rounded())
    }
    // Silence counts as a gap even if the frames that it replaced have arrived by now.
    let silence = max(gap, filled)
    if silence * rate >= 1 { output.note(cause ?? .device, seconds: silence) }
    (filled, cause, isFresh, resumed) = (0, nil, false, false)
    suspicionEnds = .infinity
    drift.breakOff()
    base = SlidingMinimum()
    base.add(heldLateness, at: lastArrival)
    try passHeld()
  }

  /// Passes on held blocks that were only late. If silence has been written in their place,
  /// frames of about the same duration are dropped.
  private mutating func release() throws {
    guard filled == 0 else { return try decide() }
    base.add(heldLateness, at: lastArrival)
    try passHeld()
  }

  private mutating func passHeld() throws {
    let samples = held
    held.removeAll(keepingCapacity: true)
    heldSince = nil
    end = base.value + Double(arrived) / rate
    try samples.withUnsafeBufferPointer {
      if let start = $0.baseAddress { try pass(start, samples.count / channels) }
    }
  }

  private mutating func note(_ lateness: Double, _ time: Double) {
    let seconds = Double(arrived) / rate
    base.add(lateness, at: time)
    drift.add(seconds: seconds, lateness: lateness)
    end = base.value + seconds
  }

  private mutating func pass(_ samples: UnsafePointer<Float>, _ frames: Int) throws {
    let left = min(surplus, frames)
    surplus -= left
    guard frames > left else { return }
    try output.append(samples + left * channels, frames: frames - left)
  }
}

/// The least value in the last six intervals of 0.5 s that contain values.
struct SlidingMinimum {
  private static let buckets = 6
  private static let bucketSeconds = 0.5

  private var minima: [(bucket: Int, value: Double)] = []

  /// The minimum; infinite before the first value.
  var value: Double { minima.reduce(.infinity) { min($0, $1.value) } }

  mutating func add(_ value: Double, at time: Double) {
    let bucket = Int(time / Self.bucketSeconds)
    if let last = minima.indices.last, minima[last].bucket == bucket {
      minima[last].value = min(minima[last].value, value)
    } else {
      minima.append((bucket, value))
      if minima.count > Self.buckets { minima.removeFirst() }
    }
  }
}
