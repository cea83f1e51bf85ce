// SPDX-License-Identifier: Apache-2.0

import BluetoothTracking
import CommandOptions
import Glibc
import HeadTracking
import PipeWire
import PulseAudio
import SoundServer
import UserFiles

/// The time in microseconds after which this process ends, because a shell waits for it.
private let patience = 80_000
/// How long a sound server may take to answer, in milliseconds.
private let serverPatience = 35

/// Prints this machine's trackers or outputs for a shell's command completion, one per line. A tab
/// and a description follow each value.
///
/// If a device or a server does not answer in time, the process ends without the remaining values.
func run() {
  signal(SIGALRM) { _ in _exit(0) }
  var timer = itimerval()
  timer.it_value.tv_usec = patience
  setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
  switch CommandLine.arguments.dropFirst().first.flatMap(MachineValues.init) {
  case .trackers: printTrackers()
  case .sinks: printSinks()
  case .hrtf, .headphones, nil: exit(2)
  }
}

private func printTrackers() {
  var settings = TrackerSettings()
  let data = getenv("STILLSTAGE_DATA").map { String(cString: $0) }
  settings.profiles = TrackerProfileFile.all(
    dataFolder: ProgramFiles.ofThisProcess?.dataFolder(option: nil, environment: data))
  var known: Set<String> = []
  let found = TrackerList.current(settings).trackers
  for tracker in found where known.insert(tracker.path).inserted {
    show(tracker.id, tracker.name)
  }
  // Bluetooth takes longest, so it comes last.
  settings.providers = [EarphoneTrackers(), LowEnergyTrackers()]
  for tracker in TrackerList.current(settings).trackers
  where known.insert(tracker.path).inserted { show(tracker.id, tracker.name) }
}

private func printSinks() {
  // PipeWire usually answers in PulseAudio's protocol too, with the same sink names. Use PipeWire's
  // own protocol only if that fails.
  let sinks =
    (try? PulseSinkList.read(timeoutMilliseconds: serverPatience))
    ?? (try? PipeWireSinkList.read(timeoutMilliseconds: serverPatience)) ?? []
  for sink in sinks { show(sink.name, sink.description) }
}

/// Prints a value and its description on one line. Leaves out a value that contains a line break.
private func show(_ value: String, _ description: String) {
  guard !value.contains(where: \.isNewline) else { return }
  let text = description.map { $0.isNewline || $0 == "\t" ? " " : $0 }
  let line = Array("\(value)\t\(String(text))\n".utf8)
  _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}
