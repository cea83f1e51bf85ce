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
    // A line that has just come back is not left for what it was before.
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

  /// The rendition for which a download that comes too late is given up; nil where it is not, or
  /// not yet.
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
    // As late as it can be: the line may come back before. Where even the lower rendition would
    // come too late, that is the only hope.
    let needed = max(parameters.leastRescue, seconds(rescue) + 0.25)
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
      // It was not the recovery it looked like, and nobody has heard anything of it.
      recoveredSince = nil
      isReplacing = false
      return .giveUp
    }
    return remaining > secondsLeft && remaining > 0.3 ? .giveUp : .goOn
  }
}
