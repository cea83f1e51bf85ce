// SPDX-License-Identifier: Apache-2.0

/// The reason why a chart was not drawn.
public enum ChartError: Error, Sendable, Equatable {
  case gnuplotMissing
  case gnuplotFailed(String)
  case gnuplotTooSlow(seconds: Int)
  case unknownFormat(String)
  case cannotWrite(path: String, reason: String)
}

extension ChartError: CustomStringConvertible {
  /// One line with the problem, its cause and the remedy.
  public var description: String {
    switch self {
    case .gnuplotMissing:
      "No picture was drawn: gnuplot is missing; install gnuplot-nox."
    case .gnuplotFailed(let reason):
      "No picture was drawn: gnuplot failed (\(reason)); try another version of it."
    case .gnuplotTooSlow(let seconds):
      "No picture was drawn: gnuplot took more than \(seconds) s; try again."
    case .unknownFormat(let path):
      "A picture is SVG or PNG: let the name '\(path)' end in .svg or .png."
    case .cannotWrite(let path, let reason):
      "The picture \(path) cannot be written (\(reason)); choose another path."
    }
  }
}
