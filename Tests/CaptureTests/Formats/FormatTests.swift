// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Capture

struct FormatTests {
  @Test func ambiXPassesBitExactly() {
    let encoder = MicrophoneEncoder(.ambiX, sampleRate: 48_000)
    let block = noise(channels: 4, frames: 500)
    #expect(encoder.process(block) === block)
    #expect(encoder.heldFrames == 0 && encoder.finish() == nil)
  }

  @Test func fuMaIsReorderedAndScaled() {
    let block = noise(channels: 4, frames: 100)
    let output = MicrophoneEncoder(.fuMa, sampleRate: 48_000).process(block)
    for i in 0..<100 {
      #expect(abs(output[0][i] - block[0][i] * Float(2).squareRoot()) < 1e-6)
      #expect(output[1][i] == block[2][i])
      #expect(output[2][i] == block[3][i])
      #expect(output[3][i] == block[1][i])
    }
  }

  @Test("A source with one channel in place of a tetrahedral microphone has no direction")
  func oneChannelForCapsules() throws {
    let converter = SourceConverter(
      source: (1, 48_000), recording: (4, 48_000), selection: nil,
      single: MicrophoneFormat.aFormat(TetrahedralMicrophone()).single)
    var invalid = 0
    let sound = (0..<64).map { Float(sin(Double($0) / 5)) }
    let capsules = try sound.withUnsafeBufferPointer {
      try converter.process($0.baseAddress!, frames: 64, invalid: &invalid)
    }
    for i in 0..<64 {
      // The sum of the capsules, which W is half of, has twice the level of the source.
      #expect((0..<4).map { capsules[$0][i] } == [Float](repeating: sound[i] / 2, count: 4))
    }
  }

  @Test(arguments: [(0.0, 0.0), (90.0, 0.0), (-135.0, 35.0), (20.0, -80.0)])
  func theDirectionOfAPlaneWaveIsFound(_ azimuth: Double, _ elevation: Double) throws {
    let (az, el) = (azimuth * .pi / 180, elevation * .pi / 180)
    let block = noise(channels: 4, frames: 4800)
    for i in 0..<4800 {
      let w = block[0][i]
      block[1][i] = w * Float(cos(el) * sin(az))
      block[2][i] = w * Float(sin(el))
      block[3][i] = w * Float(cos(el) * cos(az))
    }
    // Blocks can be of any size.
    var meter = IntensityMeter()
    var sum = FieldIntensity()
    for (start, count) in [(0, 1), (1, 999), (1000, 3800)] {
      var planes = (0..<4).map { block.planes[$0] + start }
      sum += meter.measure(&planes, frames: count)
    }
    let found = try #require(sum.direction)
    #expect(abs(found.azimuth - az) < 1e-3 && abs(found.elevation - el) < 1e-3)
    #expect(found.diffuseness < 1e-3)
    #expect(FieldIntensity().direction == nil)
  }

  @Test func aDiffuseFieldHasNoDirection() throws {
    let block = noise(channels: 4, frames: 48_000)
    for channel in 1..<4 {
      for i in 0..<48_000 { block[channel][i] /= Float(3).squareRoot() }
    }
    var meter = IntensityMeter()
    let measured = meter.measure(block.planes, frames: 48_000)
    #expect(try #require(measured.direction).diffuseness > 0.95)
  }

  @Test func metersReadPeakAndRMS() {
    let block = PlanarBlock(channels: 2, frames: 48_000)
    for i in 0..<48_000 { block[1][i] = 0.5 * Float(sin(2 * Double.pi * Double(i) / 48)) }
    var meter = ChannelMeter(channels: 2)
    meter.add(block.planes, frames: 48_000)
    let levels = meter.take()
    #expect(levels.peaks[0] == 0 && levels.rms[0] == 0)
    #expect(abs(levels.peaks[1] - 0.5) < 1e-4)
    #expect(abs(levels.rms[1] - 0.35355) < 1e-4)
    let next = meter.take()
    #expect(next.peaks == [0, 0])
  }

  @Test func descriptionsOfMicrophonesAreRead() throws {
    let folder = TemporaryFolder()
    let path = try folder.write(
      """
      {"schema": 1, "name": "Mine", "format": "a-format", "radius": 20,
       "capsules": ["fld", "fru", "blu", "brd"], "gains": [0, 20, 0, -20]}
      """, to: "mine.json")
    guard case .aFormat(let microphone) = try MicrophoneFile(path: path).format else {
      Issue.record("not A-format")
      return
    }
    #expect(abs(microphone.radius - 0.02) < 1e-12)
    #expect(microphone.capsules[1] == .frontRightUp)
    #expect(abs(microphone.gains[1] - 10) < 1e-9 && abs(microphone.gains[3] - 0.1) < 1e-9)
  }

  @Test(arguments: [
    #"{"schema": 2, "name": "A", "format": "ambix"}"#,
    #"{"schema": 1, "name": "A", "format": "b-format"}"#,
    #"{"schema": 1, "format": "ambix"}"#,
    #"{"schema": 1, "name": "A", "format": "a-format", "capsules": ["flu", "frd"]}"#,
    #"{"schema": 1, "name": "A", "format": "a-format", "capsules": ["flu","frd","x","bld","bru"]}"#,
    #"{"schema": 1, "name": "A", "format": "a-format", "radius": 0}"#,
    #"{"schema": 1, "name": "A", "format": "a-format", "gains": [0, 0, 0]}"#,
    "no JSON",
  ])
  func wrongDescriptionsAreRefused(_ text: String) throws {
    let folder = TemporaryFolder()
    let path = try folder.write(text, to: "wrong.json")
    #expect(throws: MicrophoneFileError.self) { try MicrophoneFile(path: path) }
  }

  private func noise(channels: Int, frames: Int) -> PlanarBlock {
    let block = PlanarBlock(channels: channels, frames: frames)
    var state: UInt32 = 12345
    for channel in 0..<channels {
      for i in 0..<frames {
        state = state &* 1_664_525 &+ 1_013_904_223
        block[channel][i] = Float(Int32(bitPattern: state)) / Float(Int32.max)
      }
    }
    return block
  }
}
