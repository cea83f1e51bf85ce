// SPDX-License-Identifier: Apache-2.0

import AudioMix
import Binaural
import CommandSupport
import HeadTracking
import Playback
import Rendering
import SoundSources

/// Performs the actions of the keys of `play` and `demo`.
final class PlayerKeys {
  /// What a key has done, or what the caller must do for it.
  enum Outcome: Equatable {
    /// The key's effect is visible in the status line or is reported as an event.
    case done
    /// The text says what has changed.
    case changed(String)
    case volumeChanged
    /// The text says why the key has no effect.
    case noEffect(String)
    case togglesHelp
    case togglesScreen
    case ends
  }

  /// The change of the volume by one key press, in dB.
  private static let step = 1.0
  private static let loudest = 20.0
  private static let softest = -60.0

  private let player: Player
  private let sets: HRTFChoices
  /// The volume to restore, as a linear gain; nil if the sound is not muted.
  private var kept: Float?

  init(_ player: Player, sets: HRTFChoices) { (self.player, self.sets) = (player, sets) }

  var isMuted: Bool { kept != nil }
  /// The volume in dB, as if the sound were not muted.
  var volumeDecibels: Double { decibels(kept ?? player.volume) }

  /// The volume as text, such as "volume +1 dB".
  var volumeText: String {
    let tenths = (volumeDecibels * 10).rounded() / 10
    let number = decimal(tenths, tenths == tenths.rounded() ? 0 : 1)
    return "volume \(tenths > 0 ? "+" : "")\(number) dB" + (isMuted ? ", muted" : "")
  }

  func obey(_ key: Console.Key) -> Outcome {
    switch key {
    case .pause: player.isPaused ? player.resume() : player.pause()
    case .back: return skip(bySeconds: -10)
    case .forward: return skip(bySeconds: 10)
    case .backMinute: return skip(bySeconds: -60)
    case .forwardMinute: return skip(bySeconds: 60)
    case .louder: return changeVolume(by: Self.step)
    case .softer: return changeVolume(by: -Self.step)
    case .mute: return mute()
    case .recenter: return recentre()
    case .mode: return changeMode()
    case .decoder: return decodeOtherwise { $0.takeNextDecoder(isAmbisonic: player.isAmbisonic) }
    case .hrtf: return changeHRTF()
    case .order(let order): return changeOrder(order)
    case .mixStyle: return changeMix { ($0.style.next, $0.amount) }
    case .lessMix: return changeMix { ($0.style, (($0.amount * 10).rounded() - 1) / 10) }
    case .moreMix: return changeMix { ($0.style, (($0.amount * 10).rounded() + 1) / 10) }
    case .help: return .togglesHelp
    case .fullScreen: return .togglesScreen
    case .quit: return .ends
    case .next: return without("n")
    case .listen: return without("l")
    case .plus: return without("+")
    case .minus: return without("-")
    case .enter: return without("Enter")
    case .escape: return without("Escape")
    case .other(let name): return without(name)
    }
    return .done
  }

  private func without(_ name: String) -> Outcome {
    .noEffect("the key \(name) has no function here; ? shows the keys")
  }

  private func skip(bySeconds seconds: Double) -> Outcome {
    player.skip(bySeconds: seconds) ? .changed("seeking stops 1 s before the end") : .done
  }

  // MARK: Volume

  private func changeVolume(by step: Double) -> Outcome {
    let now = volumeDecibels
    let limited =
      step > 0 ? max(now, min(Self.loudest, now + step)) : min(now, max(Self.softest, now + step))
    guard abs(limited - now) > 0.001 else {
      return .noEffect(
        step > 0
          ? "the volume is at its maximum of +20 dB"
          : "the volume is at its minimum of -60 dB; m mutes the sound")
    }
    let gain = linearGain(decibels: limited)
    if isMuted { kept = gain } else { player.volume = gain }
    return .volumeChanged
  }

  private func mute() -> Outcome {
    if let kept {
      player.volume = kept
      self.kept = nil
    } else {
      kept = player.volume
      player.volume = 0
    }
    return .volumeChanged
  }

  // MARK: Head and stage

  private func recentre() -> Outcome {
    let status = player.status
    guard let head = status.head else {
      return .noEffect("there is nothing to recentre: the head pose does not come from a tracker")
    }
    guard head.freshness != .waiting else {
      return .noEffect("there is nothing to recentre: no tracker has sent a pose yet")
    }
    guard head.freshness != .lost else {
      return .noEffect("there is nothing to recentre: the tracker is disconnected or silent")
    }
    player.recenter()
    return .changed("recentred")
  }

  private func changeMode() -> Outcome {
    player.mode = player.mode.next
    let decision = player.routeDecision
    guard decision.treatment == .plainStereo, decision.reason != .modeOff else { return .done }
    return .noEffect("the sound is played as \(decision.text) in every mode")
  }

  // MARK: Decoder

  private func changeHRTF() -> Outcome {
    let now = player.decoding.hrtfPath
    guard sets.next(after: now) != now else {
      return .noEffect(
        "there is no other HRTF set to switch to; see HRTF/README.md")
    }
    return decodeOtherwise { $0.hrtfPath = sets.next(after: now) }
  }

  private func changeOrder(_ order: Int) -> Outcome {
    guard !player.isAmbisonic else {
      return .noEffect("the source is ambisonic and keeps its own order")
    }
    guard player.decoding.busOrder != order else {
      return .noEffect("the bus is already of order \(order)")
    }
    return decodeOtherwise { $0.busOrder = order }
  }

  private func decodeOtherwise(_ change: (inout RenderSettings) -> Void) -> Outcome {
    var settings = player.decoding
    change(&settings)
    guard settings != player.decoding else {
      return .noEffect("there is no other decoder for this source")
    }
    player.decode(by: settings)
    return .done
  }

  // MARK: Mix

  /// Changes the mix, starting from `standard` if there is none. The amount is limited to 0...1.
  private func changeMix(
    _ change: ((style: MixStyle, amount: Double)) -> (MixStyle, Double)
  ) -> Outcome {
    guard player.canMix else {
      return .noEffect("only soundfields can be mixed, and this source is not a soundfield")
    }
    let (style, amount) = change(player.mix ?? (.standard, 0.5))
    player.mix = (style, max(0, min(1, amount)))
    return .done
  }
}

extension RenderSettings {
  /// Switches to the next decoder design. Unless the sound is ambisonic, direct rendering follows
  /// the last design.
  fileprivate mutating func takeNextDecoder(isAmbisonic: Bool) {
    let all = DecoderDesign.Method.allCases
    let isLast = method == all.last
    isParametric = false
    if isLast, !isDirect, !isAmbisonic {
      isDirect = true
      return
    }
    isDirect = false
    method = all[((all.firstIndex(of: method) ?? 0) + 1) % all.count]
  }
}
