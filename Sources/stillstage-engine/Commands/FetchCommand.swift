// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import Glibc
import HLS
import Playback

func fetchCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let place: PresentationPlace
  do throws(SoundOpeningError) {
    place = try PresentationPlace(
      command[Arguments.presentation], root: command[Options.root], remedy: rootRemedy,
      network: ServerWait.patience(command))
  } catch { throw CommandFailure(error.text) }
  let output = command[Options.fetchOutput]
  try refuseNesting(of: output, in: place)
  let loader = PlaylistLoader(place.fetcher, folder: place.folder)
  let jobs = try jobs(command, place, loader)
  let keeper: PresentationKeeper
  do throws(KeepingError) {
    keeper = try PresentationKeeper(folder: output, source: place.address.description)
  } catch { throw CommandFailure(error.description) }
  let seconds = jobs.reduce(0) { $0 + $1.playlist.duration }
  var progress = Progress(total: Int(min(seconds * 1000, 1e15)), doing: "fetched")
  let outcome = PresentationDownload(place.fetcher, loader, into: keeper).run(
    jobs, progress: { progress.advance(by: Int($0 * 1000)) }, goesOn: { Signals.received == nil })
  progress.end()
  try report(outcome, jobs, in: output)
}

private func jobs(
  _ command: ParsedCommand, _ place: PresentationPlace, _ loader: PlaylistLoader
) throws(CommandFailure) -> [PresentationDownload.Job] {
  var selection = RenditionSelection()
  selection.wishes = RenditionWishes(command)
  switch command[Options.renditions] {
  case .best: selection.wish = .best
  case .all: selection.wish = .all
  case .named(let names): selection.wish = .named(names)
  }
  let goesOn = { Signals.received == nil }
  do throws(DownloadError) {
    let presentation: Presentation
    do throws(PresentationError) {
      presentation = try place.open(loader, goesOn: goesOn)
    } catch { throw .presentation(error) }
    if case .multivariant(let playlist, _) = presentation {
      for note in Set(playlist.notes).sorted() { printNote(note) }
    }
    let jobs = try loader.jobs(for: presentation, selection, goesOn: goesOn)
    for note in jobs.flatMap(\.notes) { printNote(note.withoutControls) }
    return jobs
  } catch {
    if case .presentation(.interrupted) = error { throw .interrupted }
    throw CommandFailure(error.description.withoutControls)
  }
}

/// Throws an error if the output folder is the source folder or is inside it.
private func refuseNesting(
  of output: String, in place: PresentationPlace
) throws(CommandFailure) {
  guard let folder = place.folder, place.isFolder else { return }
  // A folder that does not exist yet is located by its parent.
  let parts = output.split(separator: "/", omittingEmptySubsequences: false)
  let parent = parts.dropLast().joined(separator: "/")
  let candidates = [output, output.hasPrefix("/") ? parent + "/" : parent.isEmpty ? "." : parent]
  for candidate in candidates {
    guard let real = realpath(candidate, nil) else { continue }
    defer { free(real) }
    if (String(cString: real) + "/").hasPrefix(folder.path + "/") {
      throw CommandFailure(
        "the output folder '\(output)' is the source folder or is inside it; choose another folder")
    }
    return
  }
}

private func report(
  _ outcome: PresentationDownload.Outcome, _ jobs: [PresentationDownload.Job], in output: String
) throws(CommandFailure) {
  if let error = outcome.error { throw CommandFailure(error.description) }
  if outcome.isInterrupted { throw .interrupted }
  for line in outcome.switches { printNote(line.withoutControls) }
  for line in lines(of: outcome.missing) { printNote(line) }
  if outcome.gaps > 0 {
    let segments = outcome.gaps == 1 ? "1 segment" : "\(outcome.gaps) segments"
    printNote("the presentation itself marks \(segments) as missing")
  }
  let count = jobs.reduce(0) { $0 + $1.playlist.segments.count } - outcome.gaps
  guard outcome.missing.isEmpty else {
    let one = outcome.missing.count == 1
    throw CommandFailure(
      "\(outcome.missing.count) of \(count) segments \(one ? "is" : "are") missing in '\(output)'; "
        + "run the same command again to fetch \(one ? "it" : "them")")
  }
  let names = jobs.map(\.rendition.shownName.withoutControls).joined(separator: ", ")
  let size = decimal(Double(outcome.bytes) / 1e6, 1)
  try printOutput(
    "\(names): \(count) segment\(count == 1 ? " is" : "s are") complete; "
      + "this run fetched \(outcome.fetched)\(count == 1 ? "" : " of them") (\(size) MB)\n")
}

/// Returns a line for each run of consecutive segments that are missing for the same reason. If
/// there are more than 20 runs, one line gives the number of the runs after the 20th.
private func lines(of missing: [PresentationDownload.Missing]) -> [String] {
  var runs: [(first: PresentationDownload.Missing, last: Int)] = []
  for one in missing {
    if let run = runs.last, run.first.rendition == one.rendition, run.first.reason == one.reason,
      run.last + 1 == one.number
    {
      runs[runs.count - 1].last = one.number
    } else {
      runs.append((one, one.number))
    }
  }
  let lines = runs.prefix(20).map { first, last in
    let numbers = first.number == last ? "segment \(last)" : "segments \(first.number) to \(last)"
    let name = first.rendition.shownName.withoutControls
    let verb = first.number == last ? "is" : "are"
    return "\(name): \(numbers) \(verb) missing: \(first.reason.withoutControls)"
  }
  let rest = runs.count - 20
  let more = rest == 1 ? "run of segments is" : "runs of segments are"
  return lines + (rest > 0 ? ["\(rest) more \(more) missing"] : [])
}

extension RenditionWishes {
  init(_ command: ParsedCommand) {
    self.init()
    language = command[Options.language]
    maximumBitRate = command[Options.maxBitrate] ?? .infinity
    switch command[Options.preferTreatment] {
    case .multichannel: preference = .multichannel
    case .stereo: preference = .stereo
    }
  }
}
