// SPDX-License-Identifier: Apache-2.0

import CPulse
import SoundServer

/// Requests about cards. Call them with the loop's lock held.
extension ClientConnection {
  /// Returns the Bluetooth cards.
  func cards() throws(SoundServerError) -> [BluetoothCard] {
    let all: [BluetoothCard?] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_get_card_info_list(
        context,
        { _, info, end, this in
          Answer<BluetoothCard?>.with(this) {
            $0.add(info.map { BluetoothCard($0.pointee) }, isLast: end != 0)
          }
        }, answer)
    }
    return all.compactMap(\.self)
  }

  /// Selects a profile. Returns whether the server confirmed the request.
  func setProfile(_ profile: String, ofCard card: String) throws(SoundServerError) -> Bool {
    let results: [Int32] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_set_card_profile_by_name(
        context, card, profile, { Answer<Int32>.with($2, complete: $1) }, answer)
    }
    return results.first == 1
  }

  /// Sends a message to an object of the server. Returns the answer; nil if libpulse cannot send
  /// messages to this server, or if the object does not exist or refuses the message.
  func send(
    _ message: String, _ parameters: String?, to object: String
  ) throws(SoundServerError) -> String? {
    let answers: [String?] = try ask { (context, answer: UnsafeMutableRawPointer) in
      pa_context_send_message_to_object(
        context, object, message, parameters,
        { _, success, text, this in
          let value = success == 1 ? text.map { String(cString: $0) } ?? "" : nil
          Answer<String?>.with(this, complete: value)
        }, answer)
    }
    return answers.first ?? nil
  }
}

extension BluetoothCard {
  /// Reads the server's description of a card; nil if the card is not a Bluetooth device.
  fileprivate init?(_ info: pa_card_info) {
    let bus = pa_proplist_gets(info.proplist, PA_PROP_DEVICE_BUS).map { String(cString: $0) }
    let card = String(cString: info.name)
    guard bus == "bluetooth" || card.hasPrefix("bluez_card") else { return nil }
    let profiles = (0..<Int(info.n_profiles)).compactMap { index -> Profile? in
      guard let profile = info.profiles2[index]?.pointee else { return nil }
      return Profile(
        name: String(cString: profile.name), hasMicrophone: profile.n_sources > 0,
        isAvailable: profile.available != 0, priority: Int(profile.priority))
    }
    self.init(
      name: card,
      description: pa_proplist_gets(info.proplist, PA_PROP_DEVICE_DESCRIPTION)
        .map { String(cString: $0) } ?? card,
      profiles: profiles,
      activeProfile: info.active_profile2.map { String(cString: $0.pointee.name) })
  }
}
