// SPDX-License-Identifier: Apache-2.0

/// A download of on-demand renditions into a folder. It skips segments that are already there.
public struct PresentationDownload {
  /// A rendition to download.
  public struct Job: Sendable, Equatable {
    public var rendition: KeptRendition
    public var playlist: MediaPlaylist
    /// The address of the playlist.
    public var address: ResourceAddress
  }

  /// A segment that could not be downloaded.
  public struct Missing: Sendable, Equatable {
    public var rendition: KeptRendition
    public var number: Int
    public var reason: String
  }

  /// The result of a download.
  public struct Outcome: Sendable, Equatable {
    public var fetched = 0
    /// Number of bytes of the fetched segments.
    public var bytes = 0
    /// Number of segments that were intact in the folder already.
    public var present = 0
    /// Number of segments that the playlist marks as gaps.
    public var gaps = 0
    public var missing: [Missing] = []
    public var isInterrupted = false
    /// The first write error; nil if there was none.
    public var error: KeepingError?

    /// Whether every segment is in the folder. Segments that a playlist marks as gaps do not count.
    public var isComplete: Bool { missing.isEmpty && !isInterrupted && error == nil }
  }

  /// Number of consecutive unanswered or incomplete requests after which no more segments are
  /// requested. A request that was too slow counts as this many.
  static let patience = 4
  /// Maximum number of requests for a segment whose content is invalid.
  private static let attempts = 2

  private let fetcher: any ResourceFetcher
  private let loader: PlaylistLoader
  private let keeper: PresentationKeeper

  /// Creates a download.
  ///
  /// - Parameter fetcher: a fetcher that repeats failed requests, such as ``PersistentFetcher``.
  public init(
    _ fetcher: any ResourceFetcher, _ loader: PlaylistLoader, into keeper: PresentationKeeper
  ) {
    self.fetcher = fetcher
    self.loader = loader
    self.keeper = keeper
  }

  /// Downloads the segments. Then reads all files back to verify them, unless the download was
  /// interrupted or writing failed.
  ///
  /// - Parameters:
  ///   - progress: called after each segment with its duration in s, even if it is missing.
  ///   - goesOn: return false to stop. The playlists in the folder are then valid too.
  public func run(
    _ jobs: [Job], progress: (_ seconds: Double) -> Void = { _ in }, goesOn: () -> Bool
  ) -> Outcome {
    var outcome = Outcome()
    var silent = 0
    for job in jobs {
      keeper.follow(job.playlist, of: job.rendition)
      var segments = SegmentLoader(loader, fetcher: fetcher, leavesFolder: true)
      for segment in job.playlist.segments where outcome.error == nil {
        guard !outcome.isInterrupted, goesOn() else {
          outcome.isInterrupted = true
          break
        }
        take(segment, of: job, &segments, &outcome, &silent, goesOn)
        progress(segment.duration)
      }
    }
    keeper.finish()
    if outcome.error == nil, !outcome.isInterrupted { verify(jobs, &outcome, goesOn) }
    keeper.finish()
    outcome.error = outcome.error ?? keeper.problem
    return outcome
  }

  private func take(
    _ segment: MediaSegment, of job: Job, _ segments: inout SegmentLoader,
    _ outcome: inout Outcome, _ silent: inout Int, _ goesOn: () -> Bool
  ) {
    if segment.isGap {
      outcome.gaps += 1
    } else if keeper.has(segment, of: job.rendition) {
      outcome.present += 1
    } else if silent >= Self.patience {
      outcome.miss(segment, of: job, "the server no longer answers")
    } else {
      do throws(LoadProblem) {
        let (supplied, _) = try segments.load(
          segment, in: job.address, attempts: Self.attempts, goesOn: { _ in goesOn() })
        silent = 0
        let map = supplied.initialisation
        keeper.keep(
          segment, body: supplied.bytes, map: map.isEmpty ? nil : map, of: job.rendition)
        outcome.error = keeper.problem
        guard outcome.error == nil else { return }
        outcome.fetched += 1
        outcome.bytes += supplied.bytes.count
      } catch {
        silent = error.isTooSlow ? Self.patience : error.isOfTheLine ? silent + 1 : 0
        if error.isOwn {
          outcome.isInterrupted = true
        } else {
          outcome.miss(segment, of: job, error.description)
        }
      }
    }
  }

  /// Reads all files back. Adds missing and changed segments to `outcome.missing`.
  private func verify(_ jobs: [Job], _ outcome: inout Outcome, _ goesOn: () -> Bool) {
    for job in jobs {
      _ = keeper.verify(job.rendition, goesOn: { _ in goesOn() })
      let known = Set(
        outcome.missing.lazy.filter { $0.rendition == job.rendition }.map(\.number))
      for segment in job.playlist.segments
      where !segment.isGap && !known.contains(segment.sequence) {
        guard !keeper.has(segment, of: job.rendition) else { continue }
        outcome.miss(segment, of: job, "not found on disk, or different from what was written")
      }
    }
    outcome.isInterrupted = !goesOn()
  }
}

extension PresentationDownload.Outcome {
  fileprivate mutating func miss(
    _ segment: MediaSegment, of job: PresentationDownload.Job, _ reason: String
  ) {
    missing.append(.init(rendition: job.rendition, number: segment.sequence, reason: reason))
  }
}
