// SPDX-License-Identifier: Apache-2.0

/// The time of an `EXT-X-PROGRAM-DATE-TIME` tag (ISO 8601).
public struct ProgramDate: Sendable, Equatable, Comparable {
  /// Seconds since 1970-01-01T00:00:00Z, not counting leap seconds.
  public var seconds: Double

  public init(seconds: Double) { self.seconds = seconds }

  public static func < (first: ProgramDate, second: ProgramDate) -> Bool {
    first.seconds < second.seconds
  }

  /// Parses a date and time; nil if the text is invalid. If there is no time zone, UTC is assumed.
  init?(_ text: Substring) {
    let parts = text.split(separator: "T", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let date = parts[0].split(separator: "-").map { PlaylistNumber.integer($0) }
    guard date.count == 3, let year = date[0], let month = date[1], let day = date[2],
      (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    let mark = parts[1].firstIndex { "Zz+-".contains($0) } ?? parts[1].endIndex
    let clock = parts[1][..<mark].split(separator: ":")
    guard clock.count == 3, let hour = PlaylistNumber.integer(clock[0]),
      let minute = PlaylistNumber.integer(clock[1]), let second = PlaylistNumber.decimal(clock[2]),
      hour <= 24, minute < 60, (0..<61).contains(second),
      let zone = Self.zone(parts[1][mark...])
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    seconds = Double(days * 86400 + hour * 3600 + minute * 60 - zone) + second
  }

  /// Returns the time zone's offset from UTC, in s, positive to the east. Returns 0 for `Z` and for
  /// an empty text, and nil if the text is invalid.
  private static func zone(_ text: Substring) -> Int? {
    if text.isEmpty || text == "Z" || text == "z" { return 0 }
    let digits = text.dropFirst().filter { $0 != ":" }
    guard digits.count == 4 || digits.count == 2,
      let number = PlaylistNumber.integer(digits[...])
    else { return nil }
    let (hours, minutes) = digits.count == 4 ? (number / 100, number % 100) : (number, 0)
    guard hours < 24, minutes < 60 else { return nil }
    return (text.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  /// Returns the number of days from 1970-01-01 to a date in the Gregorian calendar. Years are
  /// counted from March, so that a leap day is the last day of its year.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let leapDays = shifted / 4 - shifted / 100 + shifted / 400
    return 365 * shifted + leapDays + dayOfYear - 719_468
  }
}

extension ProgramDate {
  /// The time in UTC, rounded to the millisecond, such as `2026-01-31T20:15:00.000Z`.
  public var text: String {
    let milliseconds = Int((seconds * 1000).rounded())
    let (day, rest) = milliseconds.quotientAndFloor(by: 86_400_000)
    let date = Self.date(day: day)
    let second = rest / 1000
    func padded(_ number: Int, _ width: Int) -> String {
      String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
    }
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
      + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
      + ".\(padded(rest % 1000, 3))Z"
  }

  /// Returns the date that is `day` days after 1970-01-01. A period of 400 years has 146,097 days.
  private static func date(day: Int) -> (year: Int, month: Int, day: Int) {
    let (era, dayOfEra) = (day + 719_468).quotientAndFloor(by: 146_097)
    let leaps = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leaps) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }
}

extension Int {
  /// Returns the quotient, rounded down, and the remainder. The divisor must be positive.
  fileprivate func quotientAndFloor(by divisor: Int) -> (Int, Int) {
    let rest = ((self % divisor) + divisor) % divisor
    return ((self - rest) / divisor, rest)
  }
}
