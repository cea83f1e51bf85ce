// SPDX-License-Identifier: Apache-2.0

public import AudioMix
internal import SoundSources

extension Player {
  /// Whether the source can be mixed. This requires that its layout and all layouts to expect later
  /// are soundfields of order 1 or higher.
  public var canMix: Bool { stems != nil }

  /// The style and the amount (0 to 1) of the mix; nil until a mix is set, with this property or in
  /// the options. A change takes 50 ms.
  ///
  /// While the value is nil, setting a mix interrupts the sound for a moment. Setting nil selects
  /// the style `standard` and keeps the amount. If the source cannot be mixed, setting has no
  /// effect.
  public var mix: (style: MixStyle, amount: Double)? {
    get { stems?.isActive == true ? feed.mixer?.value : nil }
    set {
      guard let stems, let mixer = feed.mixer else { return }
      mixer.value = newValue ?? (.standard, mixer.value.amount)
      events.add(.mixChanged(mixer.value.style, amount: mixer.value.amount))
      guard newValue != nil, !stems.isActive else { return }
      stems.isActive = true
      conductor.wish { $0.rereads = true }
    }
  }
}
