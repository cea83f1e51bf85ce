// SPDX-License-Identifier: Apache-2.0

/// An option with the type of its value.
public struct CommandOption<Value: Sendable>: Sendable {
  public let specification: OptionSpecification
  let defaultValue: Value?
  let convert: @Sendable (OptionValue) -> Value?

  /// Creates an option that has the value `defaultValue` if it is not given. Help texts show the
  /// default as `shown`.
  init(
    _ name: String, short: Character? = nil, _ placeholder: String, _ form: ValueForm<Value>,
    default defaultValue: Value, shown: String, help: String
  ) {
    specification = OptionSpecification(
      name: name, short: short, placeholder: placeholder, grammar: form.grammar,
      defaultText: shown, isRequired: false, help: help)
    self.defaultValue = defaultValue
    convert = form.convert
  }

  init(
    required name: String, short: Character? = nil, _ placeholder: String,
    _ form: ValueForm<Value>, help: String
  ) {
    specification = OptionSpecification(
      name: name, short: short, placeholder: placeholder, grammar: form.grammar,
      defaultText: nil, isRequired: true, help: help)
    defaultValue = nil
    convert = form.convert
  }

  /// Creates an option that has the value nil if it is not given. If `shown` is not nil, help texts
  /// show it as the default.
  init<Wrapped>(
    _ name: String, short: Character? = nil, _ placeholder: String, _ form: ValueForm<Wrapped>,
    shown: String? = nil, help: String
  ) where Value == Wrapped? {
    specification = OptionSpecification(
      name: name, short: short, placeholder: placeholder, grammar: form.grammar,
      defaultText: shown, isRequired: false, help: help)
    defaultValue = .some(nil)
    let convertWrapped = form.convert
    convert = { convertWrapped($0).map { .some($0) } }
  }
}

extension CommandOption {
  /// Returns the error for a value that the option's grammar accepts but the engine rejects.
  /// The error suggests one of `words` if `text` looks like a misspelling of it.
  ///
  /// - Parameter expectation: the end of a sentence that begins with "it must be".
  public func refusal(
    of text: String, expectation: String, among words: [String]
  ) -> UsageError {
    .invalidValue(
      text, of: "--\(specification.name) <\(specification.placeholder)>",
      expectation: expectation, near: NearMatch.of(text, among: words))
  }
}

extension CommandOption where Value == Bool {
  /// Creates a flag: an option that takes no value and is true if it is given.
  init(flag name: String, help: String) {
    specification = OptionSpecification(
      name: name, short: nil, placeholder: "", grammar: .flag, defaultText: nil,
      isRequired: false, help: help)
    defaultValue = false
    convert = { $0 == .flag }
  }
}
