// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// C libraries come from Debian. `pkgConfig` is left out where its flags only produce warnings.
let systemLibraries: [Target] = [
  .systemLibrary(name: "CEBUR128", providers: [.apt(["libebur128-dev"])]),
  .systemLibrary(name: "CFFmpeg", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev"])]),
  .systemLibrary(
    name: "CHIDAPI", pkgConfig: "hidapi-hidraw", providers: [.apt(["libhidapi-dev"])]),
  .systemLibrary(name: "CLiblo", pkgConfig: "liblo", providers: [.apt(["liblo-dev"])]),
  .systemLibrary(name: "CMysofa", pkgConfig: "libmysofa", providers: [.apt(["libmysofa-dev"])]),
  .systemLibrary(name: "CPulse", providers: [.apt(["libpulse-dev"])]),
  .systemLibrary(name: "CRealtime"),
  .systemLibrary(name: "CSpawn"),
  .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
]

/// Kernels and its two links are one folder, compiled for three kinds of processor; which of them
/// runs is found out at run time. Elsewhere than on x86-64 all three are the plain one.
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

/// The rooms of the house; docs/architecture.md tells what each is for.
let rooms: [Target] = [
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
    dependencies: ["Geometry", "Ambisonics", "SignalProcessing", "CRealtime", "CSpawn"]),
  .target(name: "HeadTracking", dependencies: ["Geometry", "CHIDAPI", "CRealtime", "CZlib"]),
  .target(
    name: "NetworkTracking", dependencies: ["HeadTracking", "Geometry", "CLiblo", "CRealtime"]),
  .target(
    name: "Surround", dependencies: ["Geometry", "Ambisonics", "SignalProcessing", "CRealtime"]),
  .target(name: "Loudness", dependencies: ["Ambisonics", "Geometry", "CEBUR128"]),
  .target(name: "Media", dependencies: ["Ambisonics", "CFFmpeg"]),
  .target(name: "HLS", dependencies: ["CFFmpeg"]),
  .target(name: "HTTPFetching", dependencies: ["HLS", "CRealtime"]),
  .target(name: "PulseAudio", dependencies: ["CPulse", "CRealtime"]),
  .target(
    name: "Playback",
    dependencies: [
      "Geometry", "SignalProcessing", "Ambisonics", "Binaural", "HeadTracking", "Surround",
      "Loudness", "Media", "HLS", "PulseAudio", "CRealtime", "UserFiles",
    ]),
  .target(name: "CommandOptions"),
  .target(name: "Charts"),
  .target(name: "PrivateServers"),
  .target(name: "LatencyMeasurement", dependencies: ["Geometry", "HeadTracking", "Playback"]),
  .target(
    name: "UserFiles",
    dependencies: ["CommandOptions", "HeadTracking", "Binaural", "SignalProcessing"]),
  .executableTarget(name: "stillstage", dependencies: ["CommandOptions"]),
  .executableTarget(
    name: "stillstage-engine",
    dependencies: [
      "CommandOptions", "Playback", "Binaural", "HeadTracking", "NetworkTracking", "Media",
      "PulseAudio", "Geometry",
      "Ambisonics", "SignalProcessing", "Surround", "Charts", "CRealtime",
      "HLS", "HTTPFetching", "UserFiles", "PrivateServers", "LatencyMeasurement",
    ]),
  .executableTarget(name: "stillstage-sofa", dependencies: ["CMysofa"]),
]

let engine = rooms.first { $0.name == "stillstage-engine" }

let tests: [Target] = [
  .target(
    name: "TestSupport", dependencies: ["Geometry", "Ambisonics", "CRealtime", "PrivateServers"],
    path: "Tests/TestSupport"),
  .testTarget(name: "GeometryTests", dependencies: ["Geometry", "TestSupport"]),
  .testTarget(name: "SignalProcessingTests", dependencies: ["SignalProcessing", "TestSupport"]),
  .testTarget(name: "AmbisonicsTests", dependencies: ["Ambisonics", "Geometry", "TestSupport"]),
  .testTarget(
    name: "BinauralTests",
    dependencies: [
      "Binaural", "Ambisonics", "Geometry", "SignalProcessing", "TestSupport", "stillstage-sofa",
    ]),
  .executableTarget(
    name: "tracker-probe", dependencies: ["HeadTracking", "Geometry", "CRealtime"],
    path: "Tests/TrackerProbe"),
  .testTarget(
    name: "HeadTrackingTests",
    dependencies: ["HeadTracking", "Geometry", "CRealtime", "TestSupport", "tracker-probe"]),
  .testTarget(
    name: "NetworkTrackingTests",
    dependencies: ["NetworkTracking", "HeadTracking", "Geometry", "TestSupport"]),
  .testTarget(
    name: "SurroundTests", dependencies: ["Surround", "Ambisonics", "Geometry", "TestSupport"]),
  .testTarget(name: "LoudnessTests", dependencies: ["Loudness", "Ambisonics", "TestSupport"]),
  .testTarget(
    name: "PlaybackTests",
    dependencies: [
      "Playback", "Ambisonics", "Binaural", "Geometry", "SignalProcessing", "Surround",
      "TestSupport",
    ]),
  .testTarget(
    name: "RewritingTests",
    dependencies: [
      "Playback", "Ambisonics", "Binaural", "Geometry", "HeadTracking", "SignalProcessing",
      "TestSupport",
    ]),
  .testTarget(name: "HLSTests", dependencies: ["HLS", "TestSupport"]),
  .testTarget(
    name: "HTTPFetchingTests", dependencies: ["HTTPFetching", "HLS", "TestSupport"]),
  .testTarget(name: "MediaTests", dependencies: ["Media", "Ambisonics", "TestSupport"]),
  .testTarget(name: "PulseAudioTests", dependencies: ["PulseAudio", "TestSupport"]),
  .testTarget(
    name: "CommandOptionsTests", dependencies: ["CommandOptions", "TestSupport", "stillstage"]),
  .testTarget(
    name: "PlayerTests",
    dependencies: [
      "Playback", "Ambisonics", "Binaural", "Geometry", "HeadTracking", "Loudness", "Media",
      "PulseAudio", "SignalProcessing", "Surround", "UserFiles", "TestSupport",
    ]),
  .testTarget(
    name: "UserFilesTests",
    dependencies: [
      "UserFiles", "CommandOptions", "HeadTracking", "Binaural", "SignalProcessing", "TestSupport",
    ]),
  .testTarget(
    name: "LatencyMeasurementTests",
    dependencies: ["LatencyMeasurement", "HeadTracking", "Geometry", "TestSupport"]),
  .testTarget(name: "ChartsTests", dependencies: ["Charts", "TestSupport"]),
  .testTarget(
    name: "CommandTests",
    dependencies: [
      "Ambisonics", "CommandOptions", "Loudness", "Media", "TestSupport", "stillstage",
      "stillstage-engine", "stillstage-sofa",
    ]),
  .testTarget(
    name: "DemoTests",
    dependencies: [
      "Playback", "Ambisonics", "Geometry", "HeadTracking", "Media", "TestSupport",
      "stillstage-engine", "stillstage-sofa",
    ]),
  .executableTarget(
    name: "playback-example", dependencies: ["Playback"], path: "Tests/Examples"),
  .testTarget(
    name: "PlaybackLibraryTests",
    dependencies: [
      "Playback", "CAllocationCounter", "TestSupport", "playback-example", "stillstage-sofa",
    ]),
  .testTarget(
    name: "EndToEndTests",
    dependencies: [
      "PulseAudio", "SignalProcessing", "CRealtime", "TestSupport", "stillstage",
      "stillstage-engine", "stillstage-sofa",
    ]),
  .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
  .target(
    name: "CountedSections", dependencies: ["CAllocationCounter"], path: "Tests/CountedSections"),
  // The engine again, with counters in its render call. It needs the dynamic standard library, whose
  // reference counting can be replaced. SoakTests run it; were it a dependency of theirs, its counters
  // would be linked into the test program.
  .executableTarget(
    name: "stillstage-counted", dependencies: (engine?.dependencies ?? []) + ["CountedSections"],
    path: "Tests/CountedEngine"),
  .testTarget(
    name: "RealtimeSafetyTests",
    dependencies: [
      "CAllocationCounter", "CRealtime", "Ambisonics", "Binaural", "Geometry", "HeadTracking",
      "Playback", "SignalProcessing", "TestSupport",
    ]),
]

let package = Package(
  name: "Stillstage",
  products: [
    .library(name: "Playback", targets: ["Playback"]),
    .executable(name: "stillstage", targets: ["stillstage"]),
    .executable(name: "stillstage-engine", targets: ["stillstage-engine"]),
    .executable(name: "stillstage-sofa", targets: ["stillstage-sofa"]),
  ],
  targets: systemLibraries + rooms + tests,
  swiftLanguageModes: [.v6]
)

/// `STILLSTAGE_ONLY="HeadTrackingTests GeometryTests" swift test` builds nothing but those targets
/// and what they stand on.
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

for target in package.targets where target.type != .system {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .treatAllWarnings(as: .error),
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
