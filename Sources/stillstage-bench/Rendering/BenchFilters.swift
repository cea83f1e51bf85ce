// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandSupport
import Laboratory
import Playback
import Rendering
import SoundSources

/// The filters for the rows of `bench render`.
final class BenchFilters {
  static let sampleRate = 48000
  private let hrtf: HRTFChoice
  private var designed: [Int: BinauralFilters] = [:]

  init() throws(CommandFailure) {
    hrtf = try playing { () throws(PlaybackError) in
      try HRTFChoice(path: nil, interrupt: Signals.interrupt)
    }
  }

  /// Returns the filters of the default HRTF set, or of a rigid sphere if there is no set. Returns
  /// noise if the job needs filters of another length. For a symmetric job, the filters of the two
  /// ears are mirror images.
  func filters(for job: BenchJob) throws(CommandFailure) -> BinauralFilters {
    let designed = try design(order: job.order)
    let filters = designed.taps == job.taps ? designed : Self.noise(job.order, taps: job.taps)
    return job.path == .symmetric ? filters.mirrored() : filters
  }

  private func design(order: Int) throws(CommandFailure) -> BinauralFilters {
    if let there = designed[order] { return there }
    let made = try playing { () throws(PlaybackError) in
      try hrtf.filters(
        order: order, settings: RenderSettings(), sampleRate: Double(Self.sampleRate))
    }
    designed[order] = made
    return made
  }

  private static func noise(_ order: Int, taps: Int) -> BinauralFilters {
    func ear() -> [[Float]] {
      (0..<(order + 1) * (order + 1)).map { _ in
        (0..<taps).map { .random(in: -0.1...0.1) * Float(taps - $0) / Float(taps) }
      }
    }
    return BinauralFilters(
      order: order, sampleRate: Double(sampleRate), left: ear(), right: ear())
  }
}
