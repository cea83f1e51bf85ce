// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// Returns a `pkgConfig` for a file in Sources, without `.pc`. SwiftPM appends it to its search paths.
func packageConfiguration(_ path: String) -> String {
  String(repeating: "../", count: 16) + Context.packageDirectory.dropFirst() + "/Sources/" + path
}

/// The C libraries of Debian. A `pkgConfig` whose flags only cause warnings is omitted.
let systemLibraries: [Target] = [
  .systemLibrary(name: "CALSA"),
  .systemLibrary(name: "CBluetooth"),
  .systemLibrary(name: "CCurses"),
  .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
  .systemLibrary(name: "CEBUR128", providers: [.apt(["libebur128-dev"])]),
  .systemLibrary(name: "CFFmpeg", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev"])]),
  .systemLibrary(
    name: "CHIDAPI", pkgConfig: "hidapi-hidraw", providers: [.apt(["libhidapi-dev"])]),
  .systemLibrary(name: "CLiblo", pkgConfig: "liblo", providers: [.apt(["liblo-dev"])]),
  .systemLibrary(name: "CMysofa", pkgConfig: "libmysofa", providers: [.apt(["libmysofa-dev"])]),
  .systemLibrary(
    name: "CPipeWire", pkgConfig: packageConfiguration("CPipeWire/headers"),
    providers: [.apt(["libpipewire-0.3-dev"])]),
  .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
  .systemLibrary(name: "CRealtime"),
  .systemLibrary(name: "CSpawn"),
  .systemLibrary(name: "CDBus"),
  .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
]

/// Returns the settings of a wider variant of Kernels.
///
/// The folders of the two variants are links to that of Kernels; the variant to run is chosen at
/// run time. On processors other than x86-64 all three are the baseline.
func wider(_ name: String, _ flags: String...) -> [SwiftSetting] {
  #if arch(x86_64)
    return [
      .define(name), .define("FUSED"),
      .unsafeFlags(flags.flatMap { ["-Xcc", $0] }, .when(configuration: .release)),
    ]
  #else
    return []
  #endif
}

/// The modules that the programs use.
let programDependencies: [Target.Dependency] = [
  "CommandOptions", "CommandSupport", "UserFiles", "Playback", "SoundSources", "Rendering",
  "Binaural", "HeadTracking", "BluetoothTracking", "NetworkTracking", "MIDITracking",
  "SerialTracking", "Media", "Capture", "PulseAudio", "PipeWire", "SoundServer", "DBus",
  "Loudness", "Geometry", "Ambisonics",
  "SignalProcessing", "Surround", "AudioMix", "Charts", "System", "CRealtime", "HLS",
  "HTTPFetching", "ScreenView",
]

/// The modules; docs/architecture.md describes each.
let modules: [Target] = [
  .target(name: "System", dependencies: ["CRealtime", "CSpawn", "CZlib"]),
  .target(name: "Geometry", dependencies: ["CRealtime"]),
  .target(name: "Kernels"),
  .target(name: "KernelsAVX2", swiftSettings: wider("AVX2", "-march=x86-64-v3")),
  .target(
    name: "KernelsAVX512",
    swiftSettings: wider("AVX512", "-march=x86-64-v4", "-mprefer-vector-width=512")),
  .target(
    name: "SignalProcessing",
    dependencies: ["Kernels", "KernelsAVX2", "KernelsAVX512", "CRealtime"]),
  .target(
    name: "Ambisonics", dependencies: ["Geometry", "SignalProcessing", "CRealtime"]),
  .target(
    name: "Binaural",
    dependencies: ["Geometry", "Ambisonics", "SignalProcessing", "System", "CRealtime"]),
  .target(
    name: "HeadTracking",
    dependencies: ["Geometry", "System", "CHIDAPI", "CRealtime", "CZlib"]),
  .target(name: "DBus", dependencies: ["System", "CDBus"]),
  .target(
    name: "NetworkTracking",
    dependencies: ["HeadTracking", "Geometry", "System", "CLiblo", "CRealtime"]),
  .target(
    name: "MIDITracking",
    dependencies: ["HeadTracking", "Geometry", "System", "CALSA", "CRealtime"]),
  .target(
    name: "SerialTracking", dependencies: ["HeadTracking", "System", "CRealtime"]),
  .target(
    name: "BluetoothTracking",
    dependencies: [
      "HeadTracking", "Geometry", "DBus", "System", "CBluetooth", "CDBus", "CRealtime",
    ]),
  .target(
    name: "Surround", dependencies: ["Geometry", "Ambisonics", "SignalProcessing", "CRealtime"]),
  .target(
    name: "AudioMix", dependencies: ["Geometry", "Ambisonics", "SignalProcessing", "CRealtime"]),
  .target(name: "Loudness", dependencies: ["Ambisonics", "Geometry", "CEBUR128"]),
  .target(name: "Media", dependencies: ["Ambisonics", "SignalProcessing", "System", "CFFmpeg"]),
  .target(name: "HLS", dependencies: ["System", "CFFmpeg"]),
  .target(name: "HTTPFetching", dependencies: ["HLS", "CCurl", "CRealtime"]),
  .target(name: "Charts", dependencies: ["System"]),
  .target(name: "ScreenView", dependencies: ["CCurses"]),
  .target(
    name: "UserFiles",
    dependencies: ["HeadTracking", "Geometry", "Binaural", "SignalProcessing", "System"]),
  .target(name: "SoundServer", dependencies: ["Ambisonics", "CRealtime"]),
  .target(
    name: "PulseAudio",
    dependencies: ["SoundServer", "Ambisonics", "System", "CPulse", "CRealtime"]),
  .target(
    name: "PipeWire", dependencies: ["SoundServer", "Ambisonics", "CPipeWire", "CRealtime"]),
  .target(
    name: "Capture",
    dependencies: [
      "PulseAudio", "SoundServer", "Media", "AudioMix", "Ambisonics", "Geometry",
      "SignalProcessing", "System", "CFFmpeg", "CRealtime",
    ]),
  .target(
    name: "Rendering",
    dependencies: [
      "Geometry", "SignalProcessing", "Ambisonics", "Binaural", "HeadTracking", "Surround",
      "AudioMix", "Media", "CRealtime",
    ]),
  .target(
    name: "SoundSources",
    dependencies: [
      "Rendering", "Geometry", "SignalProcessing", "Ambisonics", "Binaural", "HeadTracking",
      "Surround", "AudioMix", "Loudness", "Media", "HLS", "HTTPFetching", "System", "CRealtime",
    ]),
  .target(
    name: "Playback",
    dependencies: [
      "SoundSources", "Rendering", "Geometry", "SignalProcessing", "Ambisonics", "Binaural",
      "BluetoothTracking", "HeadTracking", "Surround", "AudioMix", "Loudness", "Media",
      "PulseAudio", "PipeWire", "SoundServer", "UserFiles", "System", "CRealtime",
    ]),
  .target(name: "CommandOptions"),
  .target(
    name: "CommandSupport",
    dependencies: [
      "CommandOptions", "UserFiles", "Playback", "SoundSources", "Rendering", "AudioMix",
      "NetworkTracking", "BluetoothTracking", "MIDITracking", "SerialTracking",
      "HeadTracking", "Media", "Binaural", "Geometry", "Ambisonics", "SoundServer", "System",
      "ScreenView", "CRealtime",
    ]),
  .executableTarget(name: "stillstage", dependencies: ["CommandOptions"]),
  .executableTarget(name: "stillstage-engine", dependencies: programDependencies),
  .executableTarget(name: "stillstage-sofa", dependencies: ["CMysofa", "CSpawn"]),
  .executableTarget(name: "stillstage-separator", dependencies: ["CSpawn"]),
  .executableTarget(
    name: "stillstage-values",
    dependencies: [
      "CommandOptions", "UserFiles", "HeadTracking", "BluetoothTracking", "PulseAudio", "PipeWire",
      "SoundServer",
    ]),
  .target(
    name: "Laboratory",
    dependencies: [
      "Rendering", "Binaural", "HeadTracking", "Geometry", "Ambisonics", "SignalProcessing",
      "Surround", "AudioMix", "System", "HLS", "CRealtime",
    ]),
  .executableTarget(
    name: "stillstage-bench", dependencies: programDependencies + ["Laboratory"]),
]

let tests: [Target] = [
  .target(
    name: "TestSupport", dependencies: ["Geometry", "Ambisonics", "System", "CRealtime"],
    path: "Tests/TestSupport"),
  .testTarget(name: "SystemTests", dependencies: ["System", "TestSupport"]),
  .testTarget(name: "GeometryTests", dependencies: ["Geometry", "TestSupport"]),
  .testTarget(name: "SignalProcessingTests", dependencies: ["SignalProcessing", "TestSupport"]),
  .testTarget(name: "AmbisonicsTests", dependencies: ["Ambisonics", "Geometry", "TestSupport"]),
  .testTarget(
    name: "BinauralTests",
    dependencies: [
      "Binaural", "Laboratory", "Ambisonics", "Geometry", "SignalProcessing", "TestSupport",
      "stillstage-sofa",
    ]),
  .executableTarget(
    name: "tracker-probe", dependencies: ["HeadTracking", "Geometry", "CRealtime"],
    path: "Tests/TrackerProbe"),
  .testTarget(
    name: "HeadTrackingTests",
    dependencies: [
      "HeadTracking", "Laboratory", "Geometry", "CRealtime", "TestSupport", "tracker-probe",
    ]),
  .testTarget(
    name: "NetworkTrackingTests",
    dependencies: [
      "NetworkTracking", "HeadTracking", "Geometry", "TestSupport", "stillstage",
      "stillstage-engine",
    ]),
  .testTarget(
    name: "MIDITrackingTests",
    dependencies: [
      "MIDITracking", "HeadTracking", "Geometry", "System", "CRealtime", "TestSupport",
      "stillstage", "stillstage-engine",
    ]),
  .testTarget(
    name: "TrackerFuzzTests",
    dependencies: [
      "BluetoothTracking", "MIDITracking", "NetworkTracking", "HeadTracking", "Geometry",
      "TestSupport",
    ]),
  .testTarget(
    name: "SerialTrackingTests",
    dependencies: [
      "SerialTracking", "HeadTracking", "Geometry", "System", "CRealtime", "TestSupport",
      "stillstage", "stillstage-engine",
    ]),
  .testTarget(name: "DBusTests", dependencies: ["DBus", "System", "TestSupport"]),
  .testTarget(
    name: "BluetoothTrackingTests",
    dependencies: [
      "BluetoothTracking", "HeadTracking", "Geometry", "DBus", "System", "CDBus", "CRealtime",
      "CAllocationCounter", "TestSupport", "stillstage", "stillstage-engine",
    ]),
  .testTarget(
    name: "SurroundTests", dependencies: ["Surround", "Ambisonics", "Geometry", "TestSupport"]),
  .testTarget(
    name: "AudioMixTests",
    dependencies: [
      "AudioMix", "Ambisonics", "Geometry", "SignalProcessing", "CRealtime", "TestSupport",
    ]),
  .testTarget(name: "LoudnessTests", dependencies: ["Loudness", "Ambisonics", "TestSupport"]),
  .testTarget(
    name: "PlaybackTests",
    dependencies: [
      "AudioMix", "Playback", "SoundSources", "Rendering", "Ambisonics", "Binaural", "Geometry",
      "SignalProcessing", "Surround",
      "TestSupport",
    ]),
  .testTarget(
    name: "RewritingTests",
    dependencies: [
      "Playback", "SoundSources", "Rendering", "Ambisonics", "Binaural", "Geometry", "HeadTracking",
      "SignalProcessing",
      "TestSupport",
    ]),
  .testTarget(name: "HLSTests", dependencies: ["HLS", "Laboratory", "TestSupport"]),
  .testTarget(
    name: "HTTPFetchingTests", dependencies: ["HTTPFetching", "HLS", "TestSupport"]),
  .testTarget(name: "MediaTests", dependencies: ["Media", "Ambisonics", "TestSupport"]),
  .executableTarget(
    name: "recording-probe",
    dependencies: ["Capture", "Media", "Ambisonics", "System", "TestSupport", "CRealtime"],
    path: "Tests/RecordingProbe"),
  .executableTarget(
    name: "pulse-sink-probe", dependencies: ["PulseAudio", "SoundServer", "Ambisonics", "System"],
    path: "Tests/SinkProbes/PulseAudio"),
  .testTarget(
    name: "PulseAudioTests",
    dependencies: [
      "PulseAudio", "SoundServer", "Ambisonics", "Laboratory", "System", "TestSupport",
      "pulse-sink-probe",
    ]),
  .executableTarget(
    name: "pipewire-sink-probe", dependencies: ["PipeWire", "SoundServer", "Ambisonics"],
    path: "Tests/SinkProbes/PipeWire"),
  .testTarget(
    name: "PipeWireTests",
    dependencies: [
      "PipeWire", "PulseAudio", "SoundServer", "Ambisonics", "Laboratory", "System",
      "CAllocationCounter", "CPipeWire", "TestSupport", "pipewire-sink-probe",
    ]),
  .testTarget(
    name: "CaptureTests",
    dependencies: [
      "Capture", "PulseAudio", "SoundServer", "Media", "Ambisonics", "Laboratory", "System",
      "CRealtime", "CAllocationCounter", "TestSupport", "stillstage", "stillstage-engine",
      "recording-probe",
    ]),
  .testTarget(
    name: "CommandOptionsTests",
    dependencies: ["CommandOptions", "TestSupport", "stillstage", "stillstage-values"]),
  .testTarget(
    name: "CommandSupportTests", dependencies: ["CommandSupport", "ScreenView", "TestSupport"]),
  .testTarget(
    name: "PlayerTests",
    dependencies: [
      "Playback", "SoundSources", "Rendering", "Ambisonics", "Binaural", "Geometry", "HeadTracking",
      "Loudness", "Media",
      "PulseAudio", "SoundServer", "SignalProcessing", "Surround", "System", "UserFiles",
      "CommandSupport", "Laboratory", "TestSupport",
    ]),
  .testTarget(
    name: "SystemWideTests",
    dependencies: [
      "Playback", "SoundServer", "Ambisonics", "Geometry", "CommandSupport", "CommandOptions",
      "UserFiles", "System", "TestSupport", "stillstage", "stillstage-engine",
    ]),
  .testTarget(
    name: "UserFilesTests",
    dependencies: [
      "UserFiles", "CommandSupport", "CommandOptions", "HeadTracking", "MIDITracking", "Binaural",
      "SignalProcessing", "TestSupport",
    ]),
  .testTarget(
    name: "LaboratoryTests",
    dependencies: [
      "Laboratory", "Rendering", "HLS", "HeadTracking", "Binaural", "Ambisonics",
      "SignalProcessing",
      "Geometry", "TestSupport",
    ]),
  .testTarget(name: "ScreenViewTests", dependencies: ["ScreenView", "TestSupport"]),
  .testTarget(name: "ChartsTests", dependencies: ["Charts", "TestSupport"]),
  .testTarget(
    name: "CommandTests",
    dependencies: [
      "Ambisonics", "BluetoothTracking", "CommandOptions", "Geometry", "HeadTracking", "Loudness",
      "Media", "TestSupport", "stillstage", "stillstage-engine", "stillstage-bench",
      "stillstage-sofa", "stillstage-separator",
    ]),
  .testTarget(
    name: "DemoTests",
    dependencies: [
      "Playback", "SoundSources", "Rendering", "Ambisonics", "Geometry", "HeadTracking", "Media",
      "TestSupport",
      "stillstage-engine", "stillstage-sofa",
    ]),
  .executableTarget(
    name: "playback-example", dependencies: ["Playback", "Capture"], path: "Tests/Examples"),
  .testTarget(
    name: "PlaybackLibraryTests",
    dependencies: [
      "Playback", "Laboratory", "CAllocationCounter", "TestSupport", "playback-example",
      "stillstage-sofa",
    ]),
  .testTarget(
    name: "EndToEndTests",
    dependencies: [
      "PulseAudio", "SoundServer", "SignalProcessing", "Laboratory", "CRealtime", "TestSupport",
      "stillstage",
      "stillstage-engine", "stillstage-bench", "stillstage-sofa",
    ]),
  .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
  .testTarget(
    name: "RealtimeSafetyTests",
    dependencies: [
      "CAllocationCounter", "CRealtime", "Ambisonics", "Binaural", "Geometry", "HeadTracking",
      "Playback", "SoundSources", "Rendering", "SignalProcessing", "Surround", "AudioMix",
      "TestSupport",
    ]),
]

let package = Package(
  name: "Stillstage",
  products: [
    .library(name: "Playback", targets: ["Playback"]),
    .library(name: "Capture", targets: ["Capture"]),
    .executable(name: "stillstage", targets: ["stillstage"]),
    .executable(name: "stillstage-engine", targets: ["stillstage-engine"]),
    .executable(name: "stillstage-bench", targets: ["stillstage-bench"]),
    .executable(name: "stillstage-sofa", targets: ["stillstage-sofa"]),
    .executable(name: "stillstage-separator", targets: ["stillstage-separator"]),
    .executable(name: "stillstage-values", targets: ["stillstage-values"]),
  ],
  targets: systemLibraries + modules + tests,
  swiftLanguageModes: [.v6]
)

/// `STILLSTAGE_ONLY="HeadTrackingTests GeometryTests" swift test` builds only those targets and
/// their dependencies.
if let names = Context.environment["STILLSTAGE_ONLY"] {
  var wanted = names.split(separator: " ").map(String.init)
  var kept: Set<String> = []
  while let name = wanted.popLast() {
    guard kept.insert(name).inserted else { continue }
    for dependency in package.targets.first(where: { $0.name == name })?.dependencies ?? [] {
      if case .byNameItem(let name, _) = dependency { wanted.append(name) }
    }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { !kept.contains($0.name) }
}

/// Modules whose own code takes negligible time at run time. They compile several times faster
/// without the optimiser.
let unoptimised: Set<String> = [
  "BluetoothTracking", "Charts", "CommandOptions", "CommandSupport", "HLS", "HTTPFetching",
  "MIDITracking", "UserFiles",
  "stillstage", "stillstage-bench", "stillstage-engine", "stillstage-values",
  "ChartsTests", "CommandOptionsTests", "CommandSupportTests", "CommandTests",
  "DemoTests", "HLSTests", "HTTPFetchingTests", "MIDITrackingTests",
  "NetworkTrackingTests", "SerialTracking", "SerialTrackingTests", "SystemTests",
  "UserFilesTests",
]
for target in package.targets where unoptimised.contains(target.name) {
  target.swiftSettings = [.unsafeFlags(["-Onone"], .when(configuration: .release))]
}

for target in package.targets where target.type != .system {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .treatAllWarnings(as: .error),
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
