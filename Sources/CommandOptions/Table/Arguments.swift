// SPDX-License-Identifier: Apache-2.0

/// The positional arguments of all commands.
public enum Arguments {
  public static let input = ArgumentSpecification(
    name: "INPUT", grammar: .file,
    help: """
      Any audio file that FFmpeg reads; an HLS playlist, by its address or path; or a folder with \
      a downloaded presentation.
      """)
  public static let presentation = ArgumentSpecification(
    name: "URL", grammar: .file,
    help: "An HLS playlist, by its address or path, or a folder with one.")
  public static let trackerID = ArgumentSpecification(
    name: "ID", grammar: .text, help: "The tracker's ID, as 'stillstage trackers' lists it.")
  public static let bridgeTarget = ArgumentSpecification(
    name: "URL", grammar: .text, help: "Where to send, such as osc://localhost:9000.")
  public static let sofaFile = ArgumentSpecification(
    name: "FILE", grammar: .file, help: "A SOFA file.")
  public static let recording = ArgumentSpecification(
    name: "IN.csv", grammar: .file,
    help: """
      Recording of raw samples: columns t,gx,gy,gz,ax,ay,az and perhaps mx,my,mz, in s, rad/s, \
      m/s2 and microtesla; others are ignored. Plain or gzip.
      """)
  public static let recordings = ArgumentSpecification(
    name: "FILE", grammar: .file,
    help: """
      Recording with the columns that 'fuse' takes and the truth in qw,qx,qy,qz; rows count \
      where movement is 1.
      """, isRepeated: true)
  public static let motions = ArgumentSpecification(
    name: "FILE", grammar: .file,
    help: """
      Recorded motion with t and w,x,y,z (or qw,qx,qy,qz), and gx,gy,gz where there is a \
      gyroscope; rows count where movement is 1, all where there is no such column.
      """, isRepeated: true)
  /// Same as `motions`, but optional.
  public static let optionalMotions = ArgumentSpecification(
    name: motions.name, grammar: motions.grammar, help: motions.help, isRepeated: true,
    isOptional: true)
  public static let traces = ArgumentSpecification(
    name: "TRACE.csv", grammar: .file,
    help: """
      What a line carried over time: rows t,kbps in s and kbit/s, times ascending from 0. Left \
      out: five built-in lines.
      """, isRepeated: true, isOptional: true)
  public static let shell = ArgumentSpecification(
    name: "SHELL", grammar: .words(Shell.allCases.map(\.rawValue)),
    help: "The shell to write a completion script for.")
}
