// SPDX-License-Identifier: Apache-2.0

/// The option table: each option once, with its type, default and help text. `Program.commands`
/// defines which command takes which option.
public enum Options {
  // MARK: Sound in

  public static let layout = CommandOption<String>(
    "layout", "LAYOUT", .suggested(layoutNames), default: "auto", shown: "auto",
    help: """
      How to read the channels. 'auto' takes the container's layout; unlabelled 4, 9, 16, ... \
      channels are ambisonics in ACN order and SN3D scale, and with two more they carry \
      head-locked stereo. First-order sound in a codec that can only say '4.0' or 'quad' needs \
      'foa'. 'binaural' is stereo made for headphones. Loudspeakers go by FFmpeg's names, alone or \
      as a list such as FL+FR+LFE.
      """)
  /// The layout names that completion and help offer; the engine accepts more.
  public static let layoutNames = [
    "auto", "foa", "hoa", "fuma", "binaural", "mono", "stereo", "2.1", "3.0", "quad", "4.0", "5.0",
    "5.1", "6.1", "7.1", "5.1.2", "5.1.4", "7.1.2", "7.1.4", "9.1.6",
  ]
  public static let track = CommandOption<Int?>(
    "track", "N", .integer(1...1000), shown: "the richest that can be decoded",
    help: "Which of several audio tracks to take, counted from 1.")
  public static let spatialize = CommandOption<SpatializeChoice>(
    "spatialize", "SOURCES", .words, default: .all, shown: "all",
    help: "Which sources are made spatial; the rest plays as plain stereo.")
  public static let upmix = CommandOption<UpmixChoice>(
    "upmix", "on|off", .words, default: .on, shown: "on",
    help: """
      Whether stereo that is made spatial goes through 5.1, its centre in front and its ambience \
      around, or is a plain pair in front. 'low-latency' halves the analysis window.
      """)
  public static let order = CommandOption<Int>(
    "order", "N", .integer(1...7), default: 5, shown: "5",
    help: """
      Order of the ambisonic bus for sources that are not ambisonic; ambisonic material keeps its \
      own order.
      """)

  // MARK: Head

  public static let hrtf = CommandOption<String?>(
    "hrtf", "FILE", .file, shown: "libmysofa's default.sofa",
    help: """
      SOFA file (SimpleFreeFieldHRIR) with the listener's HRTF. A bare name is also looked for in \
      the data folder's HRTF.
      """)
  public static let hrtfEqualization = CommandOption<HRTFEqualization>(
    "hrtf-eq", "EQ", .words, default: .none, shown: "none",
    help: "'diffuse' makes the set's diffuse-field response flat; 'none' keeps its own colour.")
  public static let headphones = CommandOption<String?>(
    "headphones", "NAME|FILE", .text, shown: "none",
    help: """
      Make these headphones neutral: the name of a profile in the data folder's \
      Calibration/headphones or in ~/.config/stillstage/headphones, or a file, JSON or the text of \
      a parametric equaliser. 'none' for none.
      """)
  public static let headCircumference = CommandOption<Double?>(
    "head-circumference", "CM", .number(45...70), shown: "that of the HRTF set",
    help: """
      Circumference of the listener's head, above the brows and ears, in centimetres: times \
      between the ears are made those of a head of this size.
      """)
  public static let speakers = CommandOption<Bool>(
    flag: "speakers",
    help: """
      For two loudspeakers in front of a listener who keeps still, such as a laptop's: what each \
      of them brings to the other ear is cancelled, and no head is followed. 'play' does so where \
      the output is loudspeakers, or tells nothing of what it is.
      """)
  public static let speakerAngle = CommandOption<Double>(
    "speaker-angle", "DEG", .number(3...60), default: 12, shown: "12",
    help: "With '--speakers': degrees from the front to either loudspeaker.")
  public static let decoder = CommandOption<DecoderChoice>(
    "decoder", "DESIGN", .words, default: .magls, shown: "magls",
    help: """
      How the binaural decoder is designed: magnitude least squares, least squares, or magnitude \
      least squares that also keep the ears' coherence in diffuse sound. 'direct' plays mono, \
      stereo and loudspeaker layouts through responses of their own directions; 'parametric' plays \
      first-order sound fields as plane waves in each band and what remains. Neither is for 'hrtf \
      export'.
      """)

  // MARK: Engine

  public static let gain = CommandOption<Double>(
    "gain", "DB", .number(-120...40), default: 0, shown: "0",
    help: "Gain in decibels.")
  public static let playLoudness = CommandOption<LoudnessChoice>(
    "loudness", "LUFS|off", .loudness(-60...0), default: .target(-16), shown: "-16",
    help: """
      Loudness that every source is brought to, in LUFS at the ears: from what the file says, or \
      from a scan of it. The gain never moves by more than 1 dB a second.
      """)
  public static let renderLoudness = CommandOption<LoudnessChoice>(
    "loudness", "LUFS|off", .loudness(-60...0), default: .off, shown: "off",
    help: """
      Integrated loudness of what is written, in LUFS. All of it is measured first; the gain is \
      one and the same throughout.
      """)
  public static let dynamicRange = CommandOption<DynamicRangeChoice>(
    "drc", "MODE", .words, default: .line, shown: "line",
    help: """
      Use of the words on level in AC-3 and E-AC-3: 'line' brings dialogue to -31 LUFS and the \
      dynamic range in for a living room, 'rf' dialogue to -20 LUFS and the range in strongly, \
      'off' only dialogue to -31 LUFS.
      """)
  public static let block = CommandOption<Int>(
    "block", "FRAMES", .integer(1...8192), default: 256, shown: "256",
    help: "How many frames the engine renders at a time.")
  public static let data = CommandOption<String?>(
    "data", "DIR", .folder, shown: "see FILES in the manual",
    help: "Folder with the data files: HRTF and Calibration.")
  public static let events = CommandOption<String?>(
    "events", "FILE.jsonl", .file,
    help: "Write what happens (underruns, warnings) to a file, one JSON object a line.")
  public static let json = CommandOption<Bool>(
    flag: "json", help: "Write JSON to standard output, and nothing else.")

  // MARK: Head pose

  public static let pose = CommandOption<PoseAngles?>(
    "pose", "YAW,PITCH,ROLL", .pose(-360...360),
    help: """
      Head pose in degrees: yaw positive to the left, pitch positive up, roll positive right ear \
      down.
      """)
  public static let motion = CommandOption<String?>(
    "motion", "FILE.csv", .file,
    help: """
      Recorded head instead of a tracker: columns t,w,x,y,z with seconds and the head-to-world \
      quaternion.
      """)
  public static let tracker = CommandOption<TrackerArgument>(
    "tracker", "auto|none|ID|osc:PORT|opentrack:PORT|freepie:PORT", .tracker, default: .auto,
    shown: "auto",
    help: """
      Head tracker, by the ID that 'stillstage trackers' lists, or by the port on which one on the \
      network is listened to.
      """)
  public static let trackerAxes = CommandOption<String?>(
    "tracker-axes", "AXES", .axes, shown: "as the tracker's driver knows",
    help: "The tracker's axes that point to the front, left and up, such as y,-x,z.")
  public static let trackerPreset = CommandOption<String?>(
    "tracker-preset", "NAME", .text, shown: "ypr, or right-up",
    help: """
      Signs of a network tracker. OSC: ypr, quaternion, sparta, iem, iem-ypr. OpenTrack and \
      FreePIE: which way yaw and pitch are positive: right-up, right-down, left-up, left-down.
      """)
  public static let bridgePreset = CommandOption<String>(
    "preset", "NAME", .suggested(["ypr", "quaternion", "sparta", "iem", "iem-ypr"]), default: "ypr",
    shown: "ypr", help: "What the receiver understands: ypr, quaternion, sparta, iem, iem-ypr.")
  public static let bridgeRate = CommandOption<Double>(
    "rate", "HZ", .number(1...1000), default: 100, shown: "100",
    help: "Messages a second.")
  public static let record = CommandOption<String?>(
    "record", "FILE.csv", .file,
    help: "Write every sample: t,gx,gy,gz,ax,ay,az[,mx,my,mz],w,x,y,z in SI units (uT).")
  public static let deviceTracker = CommandOption<String?>(
    "device-tracker", "ID", .text,
    help: """
      Second tracker, fixed to what the stage stands still in: a screen, a vehicle's seat.
      """)
  public static let predict = CommandOption<PredictChoice>(
    "predict", "auto|off|MS", .prediction(0...200), default: .auto, shown: "auto",
    help: """
      How far ahead the head is predicted: by the latency as it is measured, not at all, or by so \
      many milliseconds.
      """)
  public static let keepFront = CommandOption<Bool>(
    flag: "keep-front",
    help: """
      Keep each tracker's front for the next time. Of use with trackers whose north stays the same.
      """)
  public static let mode = CommandOption<StageModeChoice>(
    "mode", "MODE", .words, default: .tracked, shown: "tracked",
    help: "Stage still in the room, stage fixed to the head, or plain stereo.")

  // MARK: Sound out

  public static let sink = CommandOption<String?>(
    "sink", "NAME", .text, shown: "the server's default",
    help: "Output device, by the sound server's name for it.")
  public static let route = CommandOption<RouteOption>(
    "route", "auto|headphones|speakers", .words, default: .auto, shown: "auto",
    help: """
      What the output is taken for. Headphones, and what nothing is known of, get binaural sound, \
      loudspeakers plain stereo; 'auto' goes by the sound server's port type and form factor.
      """)
  public static let latency = CommandOption<LatencyChoice>(
    "latency", "auto|MS", .latency(5...2000), default: .auto, shown: "auto",
    help: "Depth of the sound server's queue in milliseconds.")
  public static let rewrite = CommandOption<RewriteChoice>(
    "rewrite", "auto|on|off", .words, default: .auto, shown: "auto",
    help: """
      Whether what is queued is rendered again when the head moves, so that a turn is heard at \
      once: where the sound server lets it, always, or never.
      """)
  public static let renderTarget = CommandOption<RenderTarget>(
    "to", "FORMAT", .words, default: .binaural, shown: "binaural",
    help: """
      What is written: for headphones, folded down to stereo, for loudspeakers, or as a \
      first-order sound field in ACN order and SN3D scale. All but binaural leave HRTF and decoder \
      aside, and turn only where a pose or a motion is given.
      """)
  public static let rate = CommandOption<Int?>(
    "rate", "HZ", .integer(8000...384_000), shown: "the input's rate",
    help: "Sample rate of the output.")
  public static let limiter = CommandOption<Bool>(
    "limiter", "on|off", .onOff, default: false, shown: "off",
    help: "True-peak limiter at -1 dBTP. Off, a render is linear.")
  public static let renderOutput = CommandOption<String>(
    required: "output", short: "o", "OUT.wav", .file, help: "The 32-bit float WAV to write.")
  public static let demoOutput = CommandOption<String?>(
    "output", short: "o", "OUT.wav", .file,
    help: "Render the scene to a WAV instead of playing it.")

  // MARK: Sensors

  public static let fuseOutput = CommandOption<String>(
    required: "output", short: "o", "OUT.csv", .file,
    help: "The CSV to write: t,w,x,y,z, seconds and the turn from sensor to earth.")
  public static let magnetometer = CommandOption<Bool>(
    flag: "mag", help: "Let the heading follow the magnetometer.")
  public static let chart = CommandOption<String?>(
    "chart", "FILE.svg", .file,
    help: "Draw what was measured, into a name that ends in .svg or .png; needs gnuplot.")
  public static let dryRun = CommandOption<Bool>(
    flag: "dry-run", help: "Show the result, and write nothing.")

  // MARK: Decoder export

  public static let exportOutput = CommandOption<String>(
    required: "output", short: "o", "DEC.wav", .file,
    help: "The WAV to write: the left ear's filters in ACN order, then the right ear's.")
  public static let exportOrder = CommandOption<Int>(
    required: "order", "N", .integer(1...7), help: "Ambisonic order of the decoder.")
  public static let exportRate = CommandOption<Int?>(
    "rate", "HZ", .integer(8000...384_000), shown: "the set's rate",
    help: "Sample rate of the filters.")

  // MARK: Presentations

  public static let maxBitrate = CommandOption<Double?>(
    "max-bitrate", "RATE", .bitRate(1000...1e9), shown: "none",
    help: "Take no rendition above this many bits a second, such as 256k or 1.5M.")
  public static let preferTreatment = CommandOption<TreatmentChoice>(
    "prefer", "multichannel|stereo", .words, default: .multichannel, shown: "multichannel",
    help: "'stereo' takes stereo renditions even where the line carries multichannel ones.")
  public static let language = CommandOption<String?>(
    "language", "TAG", .text, shown: "what the presentation begins with",
    help: "Language of the sound, such as en or de-AT, where there are several.")
  public static let root = CommandOption<String?>(
    "root", "DIR", .folder,
    shown: "the playlist's own folder, or that of the playlist that names it",
    help: "Folder in which the files of a downloaded presentation may lie.")
  public static let keep = CommandOption<String?>(
    "keep", "DIR", .folder,
    help: "Keep what is played of a presentation in a folder, which can be played later.")
  public static let fetchOutput = CommandOption<String>(
    required: "output", short: "o", "DIR", .folder,
    help: "The folder to fetch into: new, empty, or from an earlier run, which is gone on with.")
  public static let renditions = CommandOption<RenditionsChoice>(
    "renditions", "all|best|NAME,...", .renditions, default: .best, shown: "best",
    help: """
      Which renditions to fetch: 'best' is the richest multichannel one that can be decoded and \
      the richest stereo one of fewer bits, 'all' all audio renditions; or names, separated by \
      commas.
      """)

  // MARK: Measurements

  public static let benchOrders = CommandOption<[Int]>(
    "orders", "LIST", .integers(1...7), default: [1, 3, 5, 7], shown: "1,3,5,7",
    help: "Ambisonic orders to measure, separated by commas.")
  public static let benchBlocks = CommandOption<[Int]>(
    "blocks", "LIST", .integers(16...4096), default: [32, 64, 128, 256, 512, 1024],
    shown: "32,64,128,256,512,1024",
    help: "Frames of a block, separated by commas.")
  public static let quick = CommandOption<Bool>(
    flag: "quick", help: "Measure the main rows only, and those for a shorter time.")

  // MARK: Latency

  public static let benchSteps = CommandOption<Int?>(
    "steps", "N", .integer(8...10_000), shown: "200, or 40 each with --compare",
    help: "How often the head is turned.")
  public static let benchQueue = CommandOption<Double?>(
    "queue", "MS", .number(5...2000), shown: "as 'play' has it",
    help: "Depth of the sound server's queue in milliseconds.")
  public static let benchServer = CommandOption<LatencyServerChoice>(
    "server", "SERVER", .words, default: .pulseaudio, shown: "pulseaudio",
    help: "A private PulseAudio or PipeWire with a null sink, or the one that is there.")
  public static let benchTrackerRate = CommandOption<Double>(
    "tracker-rate", "HZ", .number(10...1000), default: 100, shown: "100",
    help: "Reports of the tracker a second.")
  public static let appended = CommandOption<Bool>(
    flag: "appended", help: "Leave what is queued as it is, though it could be rewritten.")
  public static let injectDelay = CommandOption<Double?>(
    "inject-delay", "MS", .number(1...500),
    help: """
      Hold every second pair of turns back by so much in the tracker, and tell what is found of \
      it: the measurement measured.
      """)
  public static let compare = CommandOption<Bool>(
    flag: "compare",
    help: "Measure PulseAudio and PipeWire, appended and rewritten, at all of --depths.")
  public static let benchDepths = CommandOption<[Int]>(
    "depths", "LIST", .integers(5...2000), default: [20, 50, 100, 200, 400],
    shown: "20,50,100,200,400", help: "Depths of the queue for --compare, in milliseconds.")
  public static let benchSource = CommandOption<String?>(
    "source", "NAME", .text, shown: "the sink's monitor",
    help: """
      What is recorded, by the sound server's name: the input that a cable leads to from the \
      headphones' socket. Implies '--server current'.
      """)
  public static let manual = CommandOption<Bool>(
    flag: "manual",
    help: "Follow a real tracker (--tracker ID) that is turned by hand or by a turntable.")
  public static let benchSeconds = CommandOption<Double>(
    "seconds", "S", .number(3...3600), default: 20, shown: "20",
    help: "How long --manual records.")
  public static let errorQueue = CommandOption<Double>(
    "queue", "MS", .number(0...2000), default: 150, shown: "150",
    help: "What is queued between writing and the earliest sound that can be rewritten.")
  public static let errorPaths = CommandOption<[Int]>(
    "paths", "LIST", .integers(0...1000), default: [20, 50], shown: "20,50",
    help: "Milliseconds from the head's motion to the earliest sound it can change.")
}
