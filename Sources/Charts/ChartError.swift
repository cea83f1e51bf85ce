// SPDX-License-Identifier: Apache-2.0

/// Why a chart could not be drawn or written.
public enum ChartError: Error, Sendable, Equatable {
  case gnuplotMissing
  case gnuplotFailed(String)
  case gnuplotTooSlow(seconds: Int)
  case unknownFormat(String)
  case cannotWrite(path: String, reason: String)
}

extension ChartError: CustomStringConvertible {
  /// One line with the problem and a remedy.
  public var description: String {
    switch self {
    case .gnuplotMissing:
      "cannot draw the chart: gnuplot is not installed; install the package gnuplot-nox"
    case .gnuplotFailed(let reason):
      "cannot draw the chart with gnuplot (\(reason)); check that /tmp has free space and that "
        + "gnuplot works"
    case .gnuplotTooSlow(let seconds):
      "cannot draw the chart: gnuplot took longer than \(seconds) s; try again"
    case .unknownFormat(let path):
      "cannot draw the chart: the name '\(path)' must end in .svg or .png"
    case .cannotWrite(let path, let reason):
      "cannot write the chart to '\(path)': \(reason); choose another path"
    }
  }
}
