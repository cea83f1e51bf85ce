// SPDX-License-Identifier: Apache-2.0

/// The positional arguments of all commands.
public enum Arguments {
  public static let input = ArgumentSpecification(
    name: "INPUT", grammar: .file,
    help: """
      Audio file in any format that FFmpeg reads; address or path of an HLS playlist; or folder \
      with a downloaded presentation or a single audio file.
      """)
  public static let presentation = ArgumentSpecification(
    name: "URL", grammar: .file,
    help: "Address or path of an HLS playlist, or folder with one.")
  public static let trackerID = ArgumentSpecification(
    name: "ID", grammar: .text,
    help: """
      ID of the tracker, as 'stillstage trackers' lists it, or osc:[ADDRESS:]PORT, \
      opentrack:[ADDRESS:]PORT, freepie:[ADDRESS:]PORT, midi:PORT:MODEL, serial:PATH:PROFILE or \
      replay:FILE[:PROFILE].
      """)
  /// `trackerID` with a help text that leaves out network trackers.
  public static let calibratedTracker = ArgumentSpecification(
    name: trackerID.name, grammar: trackerID.grammar,
    help: """
      ID of the tracker, as 'stillstage trackers' lists it, midi:PORT:MODEL, serial:PATH:PROFILE \
      or replay:FILE[:PROFILE].
      """)
  public static let trackerProfile = ArgumentSpecification(
    name: "PROFILE.json", grammar: .file, help: "Tracker profile.")
  public static let bridgeTarget = ArgumentSpecification(
    name: "URL", grammar: .text, help: "Address to send to, such as osc://localhost:9000.")
  public static let sofaFile = ArgumentSpecification(
    name: "FILE", grammar: .file, help: "SOFA file.")
  public static let recording = ArgumentSpecification(
    name: "IN.csv", grammar: .file,
    help: """
      Recording of raw samples: columns t,gx,gy,gz,ax,ay,az and optionally mx,my,mz, in s, rad/s, \
      m/s2 and microtesla; other columns are ignored. Plain or gzip.
      """)
  public static let recordings = ArgumentSpecification(
    name: "FILE", grammar: .file,
    help: """
      Recording with the columns that 'fuse' reads and the true orientation in qw,qx,qy,qz. If \
      there is a column 'movement', errors are computed only for the rows in which it is 1.
      """, isRepeated: true)
  public static let motions = ArgumentSpecification(
    name: "FILE", grammar: .file,
    help: """
      Recorded motion: columns t and w,x,y,z (or qw,qx,qy,qz), optionally gx,gy,gz. \
      If there is a column 'movement', errors are computed only for the rows in which it is 1.
      """, isRepeated: true)
  /// `motions`, but optional.
  public static let optionalMotions = ArgumentSpecification(
    name: motions.name, grammar: motions.grammar, help: motions.help, isRepeated: true,
    isOptional: true)
  public static let traces = ArgumentSpecification(
    name: "TRACE.csv", grammar: .file,
    help: """
      Bandwidth of a connection over time: rows t,kbps in s and kbit/s, times ascending from 0. \
      Default: five built-in connections.
      """, isRepeated: true, isOptional: true)
  public static let shell = ArgumentSpecification(
    name: "SHELL", grammar: .words(Shell.allCases.map(\.rawValue)),
    help: "Shell to write a completion script for.")
}
