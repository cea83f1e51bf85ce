// SPDX-License-Identifier: Apache-2.0

/// A download of on-demand renditions into a folder. It skips segments that are already there.
public struct PresentationDownload {
  /// A rendition to download, with its playlist.
  public struct Job: Sendable, Equatable {
    public var rendition: KeptRendition
    public var playlist: MediaPlaylist
    /// The address of the playlist after redirects.
    public var address: ResourceAddress
    /// The addresses of other playlists with the same content, in the order in which to try them.
    public var alternatives: [ResourceAddress] = []
    /// The variables of the multivariant playlist, which the alternative playlists may import.
    var variables = PlaylistVariables()
    /// Notes on playlists that could not be loaded, one sentence each.
    public var notes: [String] = []

    init(rendition: KeptRendition, playlist: MediaPlaylist, address: ResourceAddress) {
      (self.rendition, self.playlist, self.address) = (rendition, playlist, address)
    }
  }

  /// The sites of a job (its playlist and the alternatives), and the index of the current site.
  private struct Sites {
    var places: [ResourceAddress]
    /// The loaded playlists, by index in `places`; nil for a playlist that cannot be used.
    var playlists: [Int: MediaPlaylist?]
    var current = 0

    init(_ job: Job) {
      places = [job.address] + job.alternatives
      playlists = [0: job.playlist]
    }
  }

  /// A segment that was not downloaded, or whose file was afterwards found missing or damaged.
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
    /// Number of segments that were already in the folder and intact.
    public var present = 0
    /// Number of segments that the playlists mark as gaps.
    public var gaps = 0
    public var missing: [Missing] = []
    /// The switches from one redundant playlist to another, one sentence each.
    public var switches: [String] = []
    public var isInterrupted = false
    /// The first write error; nil if there was none.
    public var error: KeepingError?

    /// Whether every segment is in the folder, and there was neither an error nor an interruption.
    /// Segments that a playlist marks as gaps do not count.
    public var isComplete: Bool { missing.isEmpty && !isInterrupted && error == nil }
  }

  /// Number of consecutive segments without a complete answer after which no more segments are
  /// requested. Requests also end after a single segment for which the server was too slow.
  static let patience = 4
  /// Maximum number of requests to one site for a segment whose content is invalid.
  private static let attempts = 2

  private let fetcher: any ResourceFetcher
  private let loader: PlaylistLoader
  private let keeper: PresentationKeeper

  /// Creates a download without starting it.
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
  ///   - progress: called after each segment, even a missing one, with its duration in s.
  ///   - goesOn: called before each segment, during each request and while files are verified;
  ///     return false to stop. The playlists in the folder remain valid.
  public func run(
    _ jobs: [Job], progress: (_ seconds: Double) -> Void = { _ in }, goesOn: () -> Bool
  ) -> Outcome {
    var outcome = Outcome()
    var silent = 0
    for job in jobs {
      keeper.follow(job.playlist, of: job.rendition)
      var sites = Sites(job)
      var segments = SegmentLoader(loader, fetcher: fetcher, leavesFolder: true)
      for segment in job.playlist.segments where outcome.error == nil {
        guard !outcome.isInterrupted, goesOn() else {
          outcome.isInterrupted = true
          break
        }
        take(segment, of: job, from: &sites, &segments, &outcome, &silent, goesOn)
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
    _ segment: MediaSegment, of job: Job, from sites: inout Sites,
    _ segments: inout SegmentLoader, _ outcome: inout Outcome, _ silent: inout Int,
    _ goesOn: () -> Bool
  ) {
    if segment.isGap {
      outcome.gaps += 1
    } else if keeper.has(segment, of: job.rendition) {
      outcome.present += 1
    } else if silent >= Self.patience {
      outcome.miss(segment, of: job, "no request was made, because earlier requests failed")
    } else {
      do throws(LoadProblem) {
        let supplied = try load(segment, of: job, from: &sites, &segments, &outcome, goesOn)
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

  /// Loads a segment of a job. If the current site cannot supply the segment, switches to the next
  /// site that can.
  private func load(
    _ segment: MediaSegment, of job: Job, from sites: inout Sites,
    _ segments: inout SegmentLoader, _ outcome: inout Outcome, _ goesOn: () -> Bool
  ) throws(LoadProblem) -> SuppliedSegment {
    let index = segment.sequence - job.playlist.mediaSequence
    var first: LoadProblem?
    for step in sites.places.indices {
      let site = (sites.current + step) % sites.places.count
      guard let playlist = playlist(site, of: job, &sites, goesOn) else { continue }
      do throws(LoadProblem) {
        let (supplied, _) = try segments.load(
          playlist.segments[index], in: sites.places[site], attempts: Self.attempts,
          goesOn: { _ in goesOn() })
        if let first, step > 0 {
          outcome.switches.append(
            "'\(sites.places[site])' replaces '\(sites.places[sites.current])', which has the same "
              + "content but failed: \(first)")
          sites.current = site
        }
        return supplied
      } catch {
        if error.isOwn { throw error }
        first = first ?? error
      }
    }
    throw first ?? .absent("no playlist lists the segment")
  }

  /// Returns the playlist of a site, which is loaded on first use. Returns nil if it cannot be
  /// loaded, or if it does not have as many segments as the job's playlist.
  private func playlist(
    _ site: Int, of job: Job, _ sites: inout Sites, _ goesOn: () -> Bool
  ) -> MediaPlaylist? {
    if let known = sites.playlists[site] { return known }
    let found = try? loader.mediaPlaylist(at: sites.places[site], job.variables, goesOn)
    if let found { sites.places[site] = found.1 }
    let isAlike = found?.0.segments.count == job.playlist.segments.count
    let playlist = isAlike ? found?.0 : nil
    sites.playlists[site] = .some(playlist)
    return playlist
  }

  /// Reads all files back. Adds segments whose files are missing or damaged to `outcome.missing`.
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
