// SPDX-License-Identifier: Apache-2.0

private import BluetoothTracking
private import HeadTracking
internal import Rendering
private import SoundServer
internal import SoundSources
private import Synchronization

/// Supplies the head pose, and runs the trackers of the head and of the device.
///
/// ## Threading
/// Any thread may use an instance.
final class PlayedHead: Sendable {
  let stage: HeadToStageSource
  /// The source of live poses; nil if the head's motion comes from a recording or is not tracked.
  let poses: HeadPoseSource?
  private let tracker: TrackerSession?
  private let device: TrackerSession?
  private let memory: Memory

  /// Stores the ID of the tracker that was connected last.
  private final class Memory: Sendable {
    let id = Mutex<String?>(nil)
  }

  init(_ options: PlayerOptions, _ events: EventQueue) {
    let memory = Memory()
    self.memory = memory
    switch options.head {
    case .none: (stage, poses, tracker) = (HeadToStageSource(.none), nil, nil)
    case .recorded(let trajectory):
      (stage, poses, tracker) = (HeadToStageSource(.recorded(trajectory)), nil, nil)
    case .source(let source):
      (stage, poses, tracker) = (HeadToStageSource(.source(source)), source, nil)
    case .automatic, .tracker:
      let source = HeadPoseSource()
      (stage, poses) = (HeadToStageSource(.source(source)), source)
      tracker = Self.session(options, source, memory, events)
    }
    device = Self.deviceSession(options, poses, events)
  }

  private static func session(
    _ options: PlayerOptions, _ source: HeadPoseSource, _ memory: Memory, _ events: EventQueue
  ) -> TrackerSession {
    var wanted = TrackerSelection.automatic
    if case .tracker(let id) = options.head { wanted = .id(id) }
    let fronts = options.fronts
    var settings = trackerSettings(options)
    settings.outputAddress = { outputAddress(options) }
    return TrackerSession(
      wanted, feeding: source, settings: settings,
      onEvent: { event in
        if case .connected(let tracker) = event {
          let isFirst = memory.id.withLock { id in
            defer { id = tracker.id }
            return id == nil
          }
          // Keep the front of an earlier session only at the first connection. After a
          // reconnection, the tracker's yaw reference may differ.
          if isFirst, let front = fronts[tracker.id] { source.keepFront(front) }
        }
        events.add(.tracker(event))
      }, calibration: options.calibration)
  }

  /// Returns the settings for the trackers. Adds the providers of Bluetooth trackers if
  /// `usesEarphones` is true and the settings have no providers.
  private static func trackerSettings(_ options: PlayerOptions) -> TrackerSettings {
    var settings = options.trackerSettings
    if options.usesEarphones, settings.providers.isEmpty {
      var wanted: String?
      if case .tracker(let id) = options.head { wanted = id }
      settings.providers = [
        EarphoneTrackers(), LowEnergyTrackers(axes: settings.axes, wanted: wanted),
      ]
    }
    return settings
  }

  /// Returns the session for the device tracker; nil without a device tracker or live poses.
  private static func deviceSession(
    _ options: PlayerOptions, _ source: HeadPoseSource?, _ events: EventQueue
  ) -> TrackerSession? {
    guard let id = options.deviceTracker, let source else { return nil }
    return TrackerSession(
      .id(id), feeding: DeviceSampleSink(for: source), settings: trackerSettings(options),
      onEvent: { events.add(.deviceTracker($0)) }, calibration: options.calibration)
  }

  func start() {
    tracker?.start()
    device?.start()
  }

  func stop() {
    tracker?.stop()
    device?.stop()
  }

  var connected: TrackerDescription? { tracker?.tracker }

  /// The ID of the last connected tracker, and the yaw of the front in that tracker's world [rad];
  /// nil if no tracker has been connected or there is no front.
  var front: (tracker: String, yaw: Double)? {
    guard let id = memory.id.withLock({ $0 }), let yaw = poses?.front else { return nil }
    return (id, yaw)
  }
}

/// Returns the Bluetooth address of the sink that the options name, or of the default sink if they
/// name none; nil if the sink is not a Bluetooth device or cannot be found.
private func outputAddress(_ options: PlayerOptions) -> String? {
  let client = SoundServerClient(options.output, serverAddress: options.serverAddress)
  let sinks = try? client.sinks(timeoutMilliseconds: 1000)
  let sink = sinks?.first { sink in options.sinkName.map { $0 == sink.name } ?? sink.isDefault }
  return sink?.bluetoothAddress
}
