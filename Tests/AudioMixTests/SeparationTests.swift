// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AudioMix

@Suite struct SeparationTests {
  @Test(arguments: [16000.0, 44100, 48000, 96000])
  func planeWaveOfVoiceIsAllImage(sampleRate: Double) {
    var separator = SpatialSeparator(sampleRate: sampleRate, fieldOfView: 1.4)
    #expect(abs(Double(separator.latencyFrames) / sampleRate - 2048.0 / 48000) < 0.0002)
    let voice = syntheticVoice(frames: Int(3 * sampleRate), sampleRate: sampleRate)
    let output = separate(planeWave(voice, azimuth: -65), with: &separator)
      .dropping(Int(0.5 * sampleRate))
    #expect(relativeLevel(difference(output.field, output.image), output.field) < -40)
  }

  @Test(arguments: [-150.0, -40, 0, 25, 100])
  func imageHasTheDirectionOfTheTalker(azimuth: Double) {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let voice = planeWave(syntheticVoice(frames: 144_000, sampleRate: 48000), azimuth: azimuth)
    let noise = diffuseNoise(frames: 144_000, level: 0.01)
    let output = separate(sum(voice, noise), with: &separator).dropping(48000)
    let image = output.image
    let truth = planeWave(image[0], azimuth: azimuth)
    #expect(relativeLevel(difference(image, truth), truth) < -25)
  }

  @Test func talkersOutsideTheFieldOfViewAreNotInTheFramedImage() {
    let voice = syntheticVoice(frames: 96000, sampleRate: 48000)
    for (azimuth, inside) in [(20.0, true), (-35, true), (50.5, false), (180, false)] {
      var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 80 * .pi / 180)
      let output = separate(planeWave(voice, azimuth: azimuth), with: &separator).dropping(48000)
      let expected = inside ? output.image : output.image.map { $0.map { _ in Float(0) } }
      #expect(
        relativeLevel(difference(output.framedImage, expected), output.image) < -60,
        "azimuth \(azimuth)")
    }
  }

  @Test func talkerAtTheEdgeOfTheFieldOfViewIsHalfInside() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 80 * .pi / 180)
    let voice = syntheticVoice(frames: 96000, sampleRate: 48000)
    let output = separate(planeWave(voice, azimuth: 45), with: &separator).dropping(48000)
    let level = relativeLevel(output.framedImage, output.image)
    #expect(abs(level + 6.02) < 0.5)
  }

  @Test func fieldOfViewMayChangeWhileRunning() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 0)
    let voice = planeWave(syntheticVoice(frames: 96000, sampleRate: 48000), azimuth: 90)
    let first = separate(voice, with: &separator).dropping(48000)
    #expect(relativeLevel(first.framedImage, first.image) < -100)
    separator.fieldOfView = 2 * .pi
    let second = separate(voice, with: &separator).dropping(48000)
    #expect(relativeLevel(difference(second.framedImage, second.image), second.image) < -60)
  }

  @Test func steadyTonesAreNotSpeech() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let chord = planeWave(steadyChord(frames: 192_000, sampleRate: 48000), azimuth: 30)
    let noise = diffuseNoise(frames: 192_000, level: 0.005)
    let output = separate(sum(chord, noise), with: &separator).dropping(96000)
    #expect(relativeLevel([output.image[0]], [output.field[0]]) < -15)
  }

  @Test func diffuseNoiseIsNotSpeech() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    let noise = diffuseNoise(frames: 192_000, level: 0.1)
    let output = separate(noise, with: &separator).dropping(96000)
    #expect(relativeLevel([output.image[0]], [output.field[0]]) < -15)
  }

  @Test func studioImageFallsFasterThanTheImage() {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1)
    var voice = syntheticVoice(frames: 96000, sampleRate: 48000)
    // From 1.1 s on, within a syllable, the sound falls by 60 dB in 0.45 s.
    var gain: Float = 1
    for i in 52800..<96000 {
      gain *= 0.999_68
      voice[i] = gain * voice[i - 12000]
    }
    let output = separate(planeWave(voice, azimuth: 10), with: &separator)
    func level(_ x: [Float], _ range: Range<Int>) -> Float {
      relativeLevel([Array(x[range])], [Array(x[40000..<54000])])
    }
    let late = 60000..<70000
    #expect(level(output.studioImage[0], late) < level(output.image[0], late) - 6)
  }
}
