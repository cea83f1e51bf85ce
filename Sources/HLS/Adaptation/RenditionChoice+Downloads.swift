// SPDX-License-Identifier: Apache-2.0

extension RenditionChoice {
  public mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse {
    guard ladder.indices.contains(rendition),
      situation.now - download.requestTime >= 0.5,
      let rate = download.recentRate(at: situation.now).map({ max($0, 1) })
    else { return .goOn }
    let remaining = download.remainingBytes * 8 / rate
    if let secondsLeft {
      return courseOfReplacement(remaining, rate, secondsLeft: secondsLeft, download, situation)
    }
    // The throughput may have just recovered, so use the higher of the rates over the last second
    // and over the last 0.4 s.
    let latest = download.latestRate(at: situation.now).map { max($0, rate) } ?? rate
    let left = download.remainingBytes * 8 / latest
    guard rendition > 0, left > situation.buffer - 0.7,
      let rescue = rescueRendition(rendition, download, rate, situation)
    else { return .goOn }
    if ladder[rendition].isMultichannel, !ladder[rescue].isMultichannel {
      degrade(.downloadTooSlow, situation)
    }
    if ladder[rendition].isMultichannel { loweredAt = situation.now }
    current = rescue
    return .abandon(rendition: rescue)
  }

  /// Returns the lower rendition in which to fetch the segment again; nil to continue the download.
  private func rescueRendition(
    _ rendition: Int, _ download: DownloadProgress, _ rate: Double, _ situation: PlaySituation
  ) -> Int? {
    func seconds(_ lower: Int) -> Double {
      1.2 * ladder[lower].bitRate * situation.segmentSeconds / rate
    }
    let lower = stereoRenditions.prefix { $0 < rendition }
    let rescue = lower.last { seconds($0) < situation.buffer - 1 } ?? 0
    let size = ladder[rescue].bitRate * situation.segmentSeconds
    guard download.remainingBytes * 8 >= 1.2 * size else { return nil }
    guard situation.hasStarted else {
      return situation.now - download.requestTime >= 1.5 ? rescue : nil
    }
    // Abandon the download as late as possible, because the throughput may recover. If the lower
    // rendition would also take too long, only a recovery can prevent a stall, so wait even longer.
    let needed = max(parameters.leastRescue, seconds(rescue) + parameters.rescueMargin)
    let isHopeless = needed > parameters.earliestRescue * situation.segmentSeconds
    let latest = parameters.hopelessRescue * situation.segmentSeconds
    return situation.buffer <= (isHopeless ? max(latest, parameters.leastRescue) : needed)
      ? rescue : nil
  }

  private mutating func courseOfReplacement(
    _ remaining: Double, _ rate: Double, secondsLeft: Double, _ download: DownloadProgress,
    _ situation: PlaySituation
  ) -> DownloadCourse {
    if !situation.hasStarted {
      let end = situation.elapsed + remaining
      return end > parameters.startPatience + 0.2 ? .giveUp : .goOn
    }
    if treatment == .stereo, situation.now - download.requestTime > 0.8,
      let first = ladder.firstMultichannel, rate < ladder[first].bitRate
    {
      // The throughput has not recovered after all.
      recoveredSince = nil
      isReplacing = false
      return .giveUp
    }
    return remaining > secondsLeft && remaining > 0.3 ? .giveUp : .goOn
  }
}
