// SPDX-License-Identifier: Apache-2.0

/// The positional arguments of all commands.
public enum Arguments {
  public static let input = ArgumentSpecification(
    name: "INPUT", grammar: .file, help: "Any audio file that FFmpeg reads.")
  public static let trackerID = ArgumentSpecification(
    name: "ID", grammar: .text, help: "The tracker's ID, as 'stillstage trackers' lists it.")
  public static let bridgeTarget = ArgumentSpecification(
    name: "URL", grammar: .text, help: "Where to send, such as osc://localhost:9000.")
  public static let sofaFile = ArgumentSpecification(
    name: "FILE", grammar: .file, help: "A SOFA file.")
  public static let shell = ArgumentSpecification(
    name: "SHELL", grammar: .words(Shell.allCases.map(\.rawValue)),
    help: "The shell to write a completion script for.")
}
