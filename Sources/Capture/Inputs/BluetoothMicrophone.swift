// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Glibc
internal import PulseAudio
public import SoundServer

/// The microphone of a Bluetooth device. The device's profile and codec were changed if necessary.
public struct BluetoothMicrophone: Sendable, Equatable {
  /// The state before the change, for `restore`.
  public struct Former: Sendable, Equatable, Codable {
    public let card: String
    public let profile: String
    /// The codec that `profile` used; nil if it is unknown.
    public let codec: String?
    /// The profile that was chosen for the recording, which can be equal to `profile`.
    public let chosen: String
  }

  /// The reason why no Bluetooth microphone can be used.
  public enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    /// No connected Bluetooth device has an available and suitable profile with a microphone.
    case none
    /// The server refused the profile, or its microphone did not appear.
    case refused(device: String, profile: String)
    case server(SoundServerError)

    public var description: String {
      switch self {
      case .none:
        "no connected Bluetooth device offers a suitable profile with a microphone; "
          + "connect a headset"
      case .refused(let device, let profile):
        "the microphone of '\(device)' cannot be used: the server refused the profile "
          + "'\(profile)', or the microphone did not appear; reconnect the device"
      case .server(let error): error.message
      }
    }
  }

  /// The microphone.
  public let input: Input
  /// The state before the change; nil if nothing was changed.
  public let former: Former?

  /// How long the microphone may take to appear, in nanoseconds.
  private static let patience: Int64 = 4_000_000_000
  /// How long the server may take to list the codecs of a new profile, in nanoseconds.
  private static let codecPatience: Int64 = 1_000_000_000

  /// Selects the microphone profile that the server prefers, on the first device that has one, and
  /// the best codec of that profile.
  ///
  /// - Parameters:
  ///   - handsFreeOnly: whether only the hands-free and headset profiles are considered.
  ///   - willChange: receives the state to restore, before anything is changed.
  /// - Throws: the reason why there is no microphone. The former profile and codec are then
  ///   restored if the server permits it.
  public static func open(
    handsFreeOnly: Bool, serverAddress: String? = nil,
    willChange: (Former) -> Void = { _ in }
  ) throws(Refusal) -> BluetoothMicrophone {
    let result: Result<BluetoothMicrophone, Refusal>
    do throws(SoundServerError) {
      result = try choose(handsFreeOnly, serverAddress, willChange)
    } catch { throw .server(error) }
    return try result.get()
  }

  private static func choose(
    _ handsFreeOnly: Bool, _ address: String?, _ willChange: (Former) -> Void
  ) throws(SoundServerError) -> Result<BluetoothMicrophone, Refusal> {
    let cards = try BluetoothCards.list(serverAddress: address)
    let usable = cards.compactMap { card in
      card.microphoneProfile(handsFreeOnly: handsFreeOnly).map { (card, $0) }
    }
    guard let (card, profile) = usable.first else { return .failure(.none) }
    let isActive = profile.name == card.activeProfile
    let former = Former(
      card: card.name, profile: card.activeProfile ?? "off",
      codec: try BluetoothCards.codec(of: card.name, serverAddress: address),
      chosen: profile.name)
    willChange(former)
    let refusal = Refusal.refused(device: card.description, profile: profile.name)
    do throws(SoundServerError) {
      let formerCodecs =
        isActive ? [] : try BluetoothCards.codecs(of: card.name, serverAddress: address)
      if !isActive {
        guard try BluetoothCards.setProfile(profile.name, of: card.name, serverAddress: address)
        else {
          // If the server cannot select the profile, it may have selected the profile "off"
          // instead.
          _ = try BluetoothCards.setProfile(former.profile, of: card.name, serverAddress: address)
          return .failure(refusal)
        }
      }
      if let ready = try chooseInput(of: card, replacing: formerCodecs, address) {
        let isUnchanged = isActive && !ready.hasOtherCodec
        return .success(
          BluetoothMicrophone(input: ready.input, former: isUnchanged ? nil : former))
      }
    } catch {
      restore(former, serverAddress: address)
      throw error
    }
    restore(former, serverAddress: address)
    return .failure(refusal)
  }

  /// Selects the best codec of the active profile, if the server permits it. Returns the microphone
  /// and whether the codec has changed, or nil if the microphone does not appear in time.
  private static func chooseInput(
    of card: BluetoothCard, replacing formerCodecs: [BluetoothCard.Codec], _ address: String?
  ) throws(SoundServerError) -> (input: Input, hasOtherCodec: Bool)? {
    guard try input(of: card, address) != nil else { return nil }
    let hasOtherCodec = try chooseCodec(of: card, replacing: formerCodecs, address)
    return try input(of: card, address).map { ($0, hasOtherCodec) }
  }

  /// Selects the best codec of the active profile. Returns whether the codec has changed.
  private static func chooseCodec(
    of card: BluetoothCard, replacing formerCodecs: [BluetoothCard.Codec], _ address: String?
  ) throws(SoundServerError) -> Bool {
    let all = try codecs(of: card, replacing: formerCodecs, address)
    let now = try BluetoothCards.codec(of: card.name, serverAddress: address)
    guard let best = BluetoothCard.best(of: all), best.name != now else { return false }
    return try BluetoothCards.setCodec(best.name, of: card.name, serverAddress: address)
  }

  /// Returns the codecs of the active profile. PipeWire can list those of the former profile for
  /// some time after the new microphone has appeared. This function therefore waits until PipeWire
  /// lists codecs other than `former`, but at most for `codecPatience`. If `former` is empty, it
  /// does not wait.
  private static func codecs(
    of card: BluetoothCard, replacing former: [BluetoothCard.Codec], _ address: String?
  ) throws(SoundServerError) -> [BluetoothCard.Codec] {
    let end = monotonic_nanoseconds() + codecPatience
    while true {
      let codecs = try BluetoothCards.codecs(of: card.name, serverAddress: address)
      let isNew = former.isEmpty || codecs != former
      guard !isNew, monotonic_nanoseconds() < end else { return codecs }
      usleep(50_000)
    }
  }

  /// Waits for the microphone of a card. Returns nil if it does not appear in time.
  private static func input(
    of card: BluetoothCard, _ address: String?
  ) throws(SoundServerError) -> Input? {
    let end = monotonic_nanoseconds() + patience
    while true {
      if let input = try Inputs.list(serverAddress: address).first(where: card.owns) {
        return input
      }
      guard monotonic_nanoseconds() < end else { return nil }
      usleep(50_000)
    }
  }

  /// What `restore` has done.
  public enum Restoration: Sendable {
    case done
    /// Nothing had to be restored.
    case unnecessary
    /// The cards cannot be listed, or the server does not make a change.
    case failed
  }

  /// Restores a device's profile and codec, unless the user has since chosen another profile.
  @discardableResult
  public static func restore(_ former: Former, serverAddress: String? = nil) -> Restoration {
    guard let cards = try? BluetoothCards.list(serverAddress: serverAddress) else { return .failed }
    guard let card = cards.first(where: { $0.name == former.card }) else {
      // The device is not connected. When it reconnects, the server selects its profile anew.
      return .unnecessary
    }
    var restored = Restoration.unnecessary
    if card.activeProfile == former.chosen, former.profile != former.chosen {
      let isDone = try? BluetoothCards.setProfile(
        former.profile, of: former.card, serverAddress: serverAddress)
      guard isDone == true else { return .failed }
      restored = .done
    } else if card.activeProfile != former.profile {
      return .unnecessary
    }
    guard let codec = former.codec,
      let now = try? BluetoothCards.codec(of: former.card, serverAddress: serverAddress),
      now != codec
    else { return restored }
    let isDone = try? BluetoothCards.setCodec(codec, of: former.card, serverAddress: serverAddress)
    return isDone == true ? .done : .failed
  }
}
