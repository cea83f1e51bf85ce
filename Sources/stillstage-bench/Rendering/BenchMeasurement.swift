// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandSupport
import Laboratory
import Playback
import Rendering
import SignalProcessing
import SoundSources

/// Measures the rows of `bench render`.
struct BenchMeasurement {
  let isQuick: Bool
  let limit: ArithmeticLimit
  /// Whether this program counts operations. Its times are then not meaningful.
  let isCounted = BenchOperations.now != nil
  private let filters: BenchFilters
  private let stage = BenchStage()

  init(isQuick: Bool) throws(CommandFailure) {
    self.isQuick = isQuick
    filters = try BenchFilters()
    limit = ArithmeticLimit(
      peak: InstructionSet.widest.measuredPeak(), sampleRate: BenchFilters.sampleRate)
  }

  /// The number of repetitions, of which the fastest counts.
  private var repetitions: Int { isCounted ? 2 : isQuick ? 20 : 30 }

  /// Returns the row for a job; nil if the job did not run.
  func row(_ job: BenchJob) throws(CommandFailure) -> BenchRow? {
    let before = BenchOperations.now
    guard let (cost, measured) = try cost(job) else { return nil }
    var row = BenchRow(job: measured, millisecondsPerSecond: cost, shareOfLimit: nil)
    if job.renderer != .libspatialaudio {
      row.shareOfLimit = limit.share(measured, millisecondsPerSecond: cost)
    }
    if let before, let after = BenchOperations.now { row.operations = after - before }
    return row
  }

  /// Returns the CPU milliseconds per second of audio, and the job with the path and taps that were
  /// actually used; nil if the job did not run.
  private func cost(_ job: BenchJob) throws(CommandFailure) -> (Double, BenchJob)? {
    switch job.renderer {
    case .decoder: (try decoderCost(job), job)
    case .renderer: try rendererCost(job)
    case .reference: isCounted ? nil : (try referenceCost(job), job)
    case .bareLoop, .libspatialaudio: isCounted ? nil : peerCost(job)
    }
  }

  private func decoderCost(_ job: BenchJob) throws(CommandFailure) -> Double {
    let decoder = BinauralDecoder(
      filters: try filters.filters(for: job),
      partition: BinauralDecoder.partition(forBlock: job.blockFrames),
      usesSymmetry: job.path == .symmetric)
    return smallest(job) { blocks in
      stage.seconds(decoder, frames: job.blockFrames, blocks: blocks)
    }
  }

  private func rendererCost(_ job: BenchJob) throws(CommandFailure) -> (Double, BenchJob) {
    let filters = try filters.filters(for: job)
    let renderer = Renderer(
      layout: BenchPlan.layout(of: job), filters: filters, busOrder: job.order,
      blockFrames: job.blockFrames)
    var measured = job
    // The filters determine which path the renderer takes.
    let isSymmetric = BinauralDecoder(filters: filters, partition: 32).isSymmetric
    measured.path = isSymmetric ? .symmetric : .full
    let cost = smallest(job) { blocks in
      stage.seconds(renderer, frames: job.blockFrames, blocks: blocks)
    }
    return (cost, measured)
  }

  private func referenceCost(_ job: BenchJob) throws(CommandFailure) -> Double {
    let reference = ReferenceDecoder(filters: try filters.filters(for: job))
    let frames = BenchFilters.sampleRate / (isQuick ? 50 : 10)
    let seconds = stage.seconds(
      reference, channels: (job.order + 1) * (job.order + 1), frames: frames)
    return seconds * 1000 * Double(BenchFilters.sampleRate) / Double(frames)
  }

  private func peerCost(_ job: BenchJob) -> (Double, BenchJob)? {
    guard let peer = Peer(for: job, repetitions: repetitions), let (taps, cost) = peer.cost() else {
      return nil
    }
    var measured = job
    measured.taps = taps
    return (cost, measured)
  }

  /// Returns the CPU milliseconds per second of audio in the fastest repetition.
  private func smallest(_ job: BenchJob, _ seconds: (Int) -> Double) -> Double {
    let rate = Double(BenchFilters.sampleRate)
    // Warm the caches and the branch predictor.
    _ = seconds(32)
    let trial = seconds(64) / 64
    let blocks = max(8, Int((isCounted ? 1e-3 : 10e-3) / max(trial, 1e-7)))
    var best = Double.infinity
    for _ in 0..<repetitions {
      if Signals.received != nil { break }
      best = min(best, seconds(blocks) / Double(blocks))
    }
    return best * 1000 * rate / Double(job.blockFrames)
  }
}
