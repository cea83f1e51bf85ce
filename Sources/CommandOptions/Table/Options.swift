// SPDX-License-Identifier: Apache-2.0

/// The option table: each option with its type, default and help text.
public enum Options {
  // MARK: Sound in

  public static let layout = CommandOption<String>(
    "layout", "LAYOUT", .suggested(layoutNames), default: "auto", shown: "auto",
    help: """
      Layout of the input's channels. 'auto' takes the layout that the container declares; 4, 9, \
      16, ... unlabelled channels are ambisonics in ACN order and SN3D scale, and with two more \
      channels they include head-locked stereo. Choose 'foa' for first-order sound in a codec that \
      can only declare '4.0' or 'quad'. 'binaural' is stereo made for headphones. Loudspeaker \
      layouts have FFmpeg's names, or are lists such as FL+FR+LFE.
      """)
  /// The layout names that completion and help offer; the engine accepts more.
  public static let layoutNames = [
    "auto", "foa", "hoa", "fuma", "binaural", "mono", "stereo", "2.1", "3.0", "quad", "4.0", "5.0",
    "5.1", "6.1", "7.1", "5.1.2", "5.1.4", "7.1.2", "7.1.4", "9.1.6",
  ]
  public static let track = CommandOption<Int?>(
    "track", "N", .integer(1...1000),
    shown: "the decodable main track with the most channels",
    help: "Number of the audio track, counted from 1.")
  public static let spatialize = CommandOption<SpatializeChoice>(
    "spatialize", "SOURCES", .words, default: .all, shown: "all",
    help: "Sources to render spatially; the others play as plain stereo.")
  public static let upmix = CommandOption<UpmixChoice>(
    "upmix", "on|off|low-latency", .words, default: .on, shown: "on",
    help: """
      Treatment of stereo that is rendered spatially: 'on' converts it to 5.1, with its centre in \
      front and its ambience around the listener; 'off' keeps it as a plain pair in front; \
      'low-latency' converts it with an analysis window of half the usual length.
      """)
  public static let order = CommandOption<Int>(
    "order", "N", .integer(1...7), default: 5, shown: "5",
    help: """
      Order of the ambisonic bus for sources that are not ambisonic; ambisonic sources keep their \
      own order.
      """)

  // MARK: Head

  public static let hrtf = CommandOption<String?>(
    "hrtf", "FILE", .file, shown: "libmysofa's default.sofa",
    help: """
      SOFA file (SimpleFreeFieldHRIR) with the listener's HRTF set. A name without a folder is \
      also looked up in the HRTF folder of the data folder.
      """)
  public static let hrtfEqualization = CommandOption<HRTFEqualization>(
    "hrtf-eq", "EQ", .words, default: .none, shown: "none",
    help: """
      Equalisation of the HRTF set: 'diffuse' flattens its diffuse-field response, 'none' leaves \
      it unchanged.
      """)
  public static let headphones = CommandOption<String?>(
    "headphones", "NAME|FILE", .text, shown: "none",
    help: """
      Headphones to equalise to neutral: the name of a profile in the data folder's \
      Calibration/headphones or in ~/.config/stillstage/headphones, or the path of a file (JSON, \
      or the text of a parametric equaliser), or 'none'.
      """)
  public static let headCircumference = CommandOption<Double?>(
    "head-circumference", "CM", .number(45...70), shown: "that of the HRTF set",
    help: """
      Circumference of the listener's head in centimetres, measured above the brows and ears. The \
      delays between the ears are scaled to a head of this size.
      """)
  public static let speakers = CommandOption<Bool>(
    flag: "speakers",
    help: """
      Render for two loudspeakers, such as a laptop's, in front of a listener who keeps still: \
      cancel the sound from each of them at the opposite ear, and do not follow the head. During \
      playback, this applies only if the output is loudspeakers or of an unknown type.
      """)
  public static let speakerAngle = CommandOption<Double>(
    "speaker-angle", "DEG", .number(3...60), default: 12, shown: "12",
    help: "Angle in degrees from the front to each loudspeaker.")
  public static let decoder = CommandOption<DecoderChoice>(
    "decoder", "DESIGN", .words, default: .magls, shown: "magls",
    help: """
      Design of the binaural decoder: 'magls' is magnitude least squares, 'ls' is least squares, \
      and 'magls-cov' is magnitude least squares that also preserves the coherence of the ears in \
      diffuse sound. 'direct' renders mono, stereo and loudspeaker layouts with the responses of \
      their own directions; 'parametric' renders first-order soundfields as plane waves in each \
      band plus a residual. 'hrtf export' supports neither of these two.
      """)

  // MARK: Engine

  public static let gain = CommandOption<Double>(
    "gain", "DB", .number(-120...40), default: 0, shown: "0",
    help: "Gain in decibels.")
  public static let playLoudness = CommandOption<LoudnessChoice>(
    "loudness", "LUFS|off", .loudness(-60...0), default: .target(-16), shown: "-16",
    help: """
      Target loudness of every source, in LUFS at the ears. The loudness of a source is assumed \
      until it is known from metadata or a measurement. Once sound has played, the gain changes by \
      less than 1 dB per second.
      """)
  public static let renderLoudness = CommandOption<LoudnessChoice>(
    "loudness", "LUFS|off", .loudness(-60...0), default: .off, shown: "off",
    help: """
      Target loudness of the binaural sound, in LUFS (integrated); the same gain applies to the \
      other formats of '--to'. The complete sound is measured first, and the gain is constant \
      throughout.
      """)
  public static let dynamicRange = CommandOption<DynamicRangeChoice>(
    "drc", "MODE", .words, default: .line, shown: "line",
    help: """
      Use of the level metadata in AC-3, E-AC-3 and AAC: 'line' brings dialogue to -31 LUFS and \
      reduces the dynamic range for a living room, 'rf' brings dialogue to -20 LUFS and reduces \
      the range strongly, 'off' only brings dialogue to -31 LUFS.
      """)
  public static let block = CommandOption<Int>(
    "block", "FRAMES", .integer(1...8192), default: 256, shown: "256",
    help: "Number of frames that the engine renders at a time.")
  public static let data = CommandOption<String?>(
    "data", "DIR", .folder, shown: "see FILES in the manual",
    help: "Data folder, which contains the folders HRTF and Calibration.")
  public static let events = CommandOption<String?>(
    "events", "FILE.jsonl", .file,
    help: "File for events, such as underruns and warnings: one JSON object per line.")
  public static let playQuiet = CommandOption<Bool>(
    flag: "quiet",
    help: """
      Show neither the status line nor what is played. Notes and errors still appear. Without this \
      option and without a terminal, the status is printed every 10 s.
      """)
  public static let screen = CommandOption<ScreenChoice>(
    "screen", "line|full", .words, default: .line, shown: "line",
    help: """
      Display on a terminal: 'line' is a status line, 'full' is a view of the head, the stage, the \
      levels and the tracker that fills the terminal. The key f changes between the two. The \
      view needs libncursesw.
      """)
  public static let json = CommandOption<Bool>(
    flag: "json", help: "Write JSON, and nothing else, to standard output.")

  // MARK: Head pose

  public static let pose = CommandOption<PoseAngles?>(
    "pose", "YAW,PITCH,ROLL", .pose(-360...360),
    help: """
      Head pose in degrees: yaw positive to the left, pitch positive up, roll positive with the \
      right ear down.
      """)
  public static let motion = CommandOption<String?>(
    "motion", "FILE.csv", .file,
    help: """
      Recorded head motion to use in place of a tracker: columns t,w,x,y,z with the time in \
      seconds and the head-to-world quaternion.
      """)
  public static let tracker = CommandOption<TrackerArgument>(
    "tracker", "auto|none|ID|osc:...|midi:...|serial:...|replay:FILE", .tracker,
    default: .auto, shown: "auto",
    help: """
      Head tracker: the ID that 'stillstage trackers' lists, the address and port on which to \
      listen for a tracker on the network (KIND:[ADDRESS:]PORT), a MIDI port (midi:PORT:MODEL), a \
      serial port (serial:PATH:PROFILE), or a capture that 'trackers watch --raw' wrote. KIND is \
      osc, opentrack or freepie. ADDRESS is an IPv4 address, an IPv6 address in brackets, or 'any' \
      to also receive from phones and other computers; without ADDRESS, Stillstage receives only \
      from programs on this computer. PORT of midi is the beginning of a port's name, and MODEL is \
      supperware or mrheadtracker. PROFILE is the name or the file of a profile.
      """)
  public static let takeOver = CommandOption<Bool>(
    flag: "take-over",
    help: """
      Take AirPods over from a phone that is using them. Without this option, they may send no \
      head motion while the phone is their active host.
      """)
  public static let pauseOnRemoval = CommandOption<Bool>(
    flag: "pause-on-removal",
    help: "Pause when both earphones are taken out, and resume when one is put back in.")
  public static let trackerAxes = CommandOption<String?>(
    "tracker-axes", "AXES", .axes, shown: "those of the tracker's driver",
    help: "Tracker axes that point forward, left and up, such as y,-x,z.")
  public static let trackerPreset = CommandOption<String?>(
    "tracker-preset", "NAME", .text, shown: "ypr for OSC, otherwise right-up",
    help: """
      Convention of a network tracker. For OSC: ypr, quaternion, sparta, iem or iem-ypr. For \
      OpenTrack and FreePIE, the directions in which yaw and pitch are positive: right-up, \
      right-down, left-up or left-down.
      """)
  public static let bridgePreset = CommandOption<String>(
    "preset", "NAME", .words(["ypr", "quaternion", "sparta", "iem", "iem-ypr"]), default: "ypr",
    shown: "ypr", help: "Message format that the receiver understands.")
  public static let bridgeRate = CommandOption<Double>(
    "rate", "HZ", .number(1...1000), default: 100, shown: "100",
    help: "Messages per second.")
  public static let record = CommandOption<String?>(
    "record", "FILE.csv", .file,
    help: """
      File to write the samples to: t[,gx,gy,gz,ax,ay,az[,mx,my,mz]],w,x,y,z in s, rad/s, m/s2 \
      and microtesla.
      """)
  public static let raw = CommandOption<String?>(
    "raw", "FILE", .file,
    help: """
      File for the packets that are exchanged with the tracker, as hexadecimal lines with times. \
      '--tracker replay:FILE' replays the packets of earphones, of Bluetooth LE trackers and of \
      trackers with a profile. With the ID serial:PATH:BAUD, the packets are not decoded.
      """)
  public static let scan = CommandOption<Bool>(
    flag: "scan", help: "First search for new Bluetooth LE trackers for 10 s.")
  public static let deviceTracker = CommandOption<String?>(
    "device-tracker", "ID", .text,
    help: """
      Second tracker, fixed to the object relative to which the stage stands still: a screen, or a \
      seat in a vehicle.
      """)
  public static let predict = CommandOption<PredictChoice>(
    "predict", "auto|off|MS", .prediction(0...200), default: .auto, shown: "auto",
    help: """
      Prediction of the head pose: 'auto' looks ahead by the measured latency, within limits; a \
      number looks ahead by that many milliseconds; 'off' does not predict.
      """)
  public static let keepFront = CommandOption<Bool>(
    flag: "keep-front",
    help: """
      Save the tracker's front for the next session, but not for a network tracker and not with \
      '--device-tracker'. This option is useful only for trackers with \
      a stable north.
      """)
  public static let mode = CommandOption<StageModeChoice>(
    "mode", "MODE", .words, default: .tracked, shown: "tracked",
    help: """
      Mode of the stage: 'tracked' keeps it still in the room, 'fixed' fixes it to the head, 'off' \
      plays plain stereo.
      """)

  // MARK: Sound out

  public static let sink = CommandOption<String?>(
    "sink", "NAME", .text, shown: "the server's default",
    help: "Output device, by its name on the sound server.")
  public static let soundServer = CommandOption<SoundServerOption>(
    "output", "auto|pulse|pipewire", .words, default: .auto, shown: "auto",
    help: """
      Sound server: 'auto' plays through PipeWire if it is the user's sound server and through \
      PulseAudio otherwise, 'pulse' plays through PulseAudio or, on PipeWire, through the \
      PulseAudio protocol.
      """)
  public static let route = CommandOption<RouteOption>(
    "route", "auto|headphones|speakers", .words, default: .auto, shown: "auto",
    help: """
      Type of the output. Without '--speakers', headphones and outputs of an unknown type get \
      binaural sound, and loudspeakers get plain stereo. 'auto' uses the type that config.json \
      sets for the output, or else what the sound server reports, such as the form factor.
      """)
  public static let latency = CommandOption<LatencyChoice>(
    "latency", "auto|MS", .latency(5...2000), default: .auto, shown: "auto",
    help: "Latency of PulseAudio's queue and sink, or length of PipeWire's cycle, in milliseconds.")
  public static let rewrite = CommandOption<RewriteChoice>(
    "rewrite", "auto|on|off", .words, default: .auto, shown: "auto",
    help: """
      Rewriting of the sound in the server's queue when the head moves, so that a turn is audible \
      sooner: 'auto' rewrites unless the output reads too far ahead, 'on' rewrites even then, \
      'off' does not rewrite.
      """)
  public static let renderTarget = CommandOption<RenderTarget>(
    "to", "FORMAT", .words, default: .binaural, shown: "binaural",
    help: """
      Format of the output: binaural for headphones, a fold-down to stereo, a loudspeaker layout, \
      or a first-order soundfield in ACN order and SN3D scale. 'foa+speech' is first-order \
      ambience with the separated speech in a fifth channel. The HRTF set and the decoder are \
      used only for binaural sound and for '--loudness'. The other formats are rotated only with \
      '--pose' or '--motion'.
      """)
  public static let rate = CommandOption<Int?>(
    "rate", "HZ", .integer(8000...384_000), shown: "the input's rate",
    help: "Sample rate of the output.")
  public static let limiter = CommandOption<Bool>(
    "limiter", "on|off", .onOff, default: false, shown: "off",
    help: """
      True-peak limiter at -1 dBTP, only with '--to binaural'. Without the limiter, peaks may \
      exceed 0 dBFS.
      """)
  public static let renderOutput = CommandOption<String>(
    required: "output", short: "o", "OUT.wav", .file, help: "32-bit float WAV file to write.")
  public static let demoOutput = CommandOption<String?>(
    "output", short: "o", "OUT.wav", .file,
    help: "WAV file to render the scene to, instead of playing it.")

  // MARK: Sensors

  public static let fuseOutput = CommandOption<String>(
    required: "output", short: "o", "OUT.csv", .file,
    help: """
      CSV file to write: t,w,x,y,z with the time in seconds and the rotation from sensor to earth.
      """)
  public static let magnetometer = CommandOption<Bool>(
    flag: "mag", help: "Let the heading follow the magnetometer.")
  public static let chart = CommandOption<String?>(
    "chart", "FILE.svg", .file,
    help: "File for a chart of the results; its name must end in .svg or .png. Needs gnuplot.")
  public static let dryRun = CommandOption<Bool>(
    flag: "dry-run", help: "Show the result, but do not save it.")

  // MARK: Decoder export

  public static let exportOutput = CommandOption<String>(
    required: "output", short: "o", "DEC.wav", .file,
    help: "WAV file to write: the left ear's filters in ACN order, then the right ear's.")
  public static let exportOrder = CommandOption<Int>(
    required: "order", "N", .integer(1...7), help: "Ambisonic order of the decoder.")
  public static let exportRate = CommandOption<Int?>(
    "rate", "HZ", .integer(8000...384_000), shown: "the SOFA file's rate",
    help: "Sample rate of the filters.")

  // MARK: Measurements

  public static let benchOrders = CommandOption<[Int]>(
    "orders", "LIST", .integers(1...7), default: [1, 3, 5, 7], shown: "1,3,5,7",
    help: "Ambisonic orders to measure, separated by commas.")
  public static let benchBlocks = CommandOption<[Int]>(
    "blocks", "LIST", .integers(16...4096), default: [32, 64, 128, 256, 512, 1024],
    shown: "32,64,128,256,512,1024",
    help: "Block sizes to measure, in frames, separated by commas.")
  public static let quick = CommandOption<Bool>(
    flag: "quick", help: "Measure only the most important cases, with fewer repetitions.")

  // MARK: Latency

  public static let benchSteps = CommandOption<Int?>(
    "steps", "N", .integer(8...10_000), shown: "200, or 40 per setting with --compare",
    help: "Number of turns of the head.")
  public static let benchQueue = CommandOption<Double?>(
    "queue", "MS", .number(5...2000), shown: "as for 'play'",
    help: "Latency of PulseAudio's queue and sink, or length of PipeWire's cycle, in milliseconds.")
  public static let benchServer = CommandOption<LatencyServerChoice>(
    "server", "SERVER", .words, default: .pulseaudio, shown: "pulseaudio",
    help: """
      Sound server to measure: a private PulseAudio or PipeWire with a null sink, or the current \
      one, which is the default with '--manual'.
      """)
  public static let benchTrackerRate = CommandOption<Double>(
    "tracker-rate", "HZ", .number(10...1000), default: 100, shown: "100",
    help: "Tracker reports per second.")
  public static let throughSink = CommandOption<Bool>(
    flag: "through-sink",
    help: "Measure the sound of a program that plays to a virtual sink of 'stillstage sink'.")
  public static let appended = CommandOption<Bool>(
    flag: "appended",
    help: "Do not rewrite queued sound. On PipeWire, use its PulseAudio protocol.")
  public static let injectDelay = CommandOption<Double?>(
    "inject-delay", "MS", .number(1...500),
    help: """
      Delay that the tracker adds to every second pair of turns, in milliseconds, to check the \
      measurement itself: the report includes the delay that was found.
      """)
  public static let compare = CommandOption<Bool>(
    flag: "compare",
    help: """
      Compare PulseAudio and PipeWire's PulseAudio protocol, with and without rewriting, at each \
      of the '--depths', and PipeWire without a queue.
      """)
  public static let benchDepths = CommandOption<[Int]>(
    "depths", "LIST", .integers(5...2000), default: [20, 50, 100, 200, 400],
    shown: "20,50,100,200,400",
    help: "Queue depths for '--compare' in milliseconds, separated by commas.")
  public static let benchSource = CommandOption<String?>(
    "source", "NAME", .text, shown: "the sink's monitor",
    help: """
      Source to record, by its name on the sound server: the input that a cable connects to the \
      headphone socket. Implies '--server current'.
      """)
  public static let manual = CommandOption<Bool>(
    flag: "manual",
    help: "Measure a real tracker ('--tracker ID') that is turned by hand or by a turntable.")
  public static let benchSeconds = CommandOption<Double>(
    "seconds", "S", .number(3...3600), default: 20, shown: "20",
    help: "Duration of the recording in seconds, with '--manual'.")
  public static let errorQueue = CommandOption<Double>(
    "queue", "MS", .number(0...2000), default: 150, shown: "150",
    help: """
      Sound in the queue between the write position and the earliest sound that can be rewritten, \
      in milliseconds.
      """)
  public static let errorPaths = CommandOption<[Int]>(
    "paths", "LIST", .integers(0...1000), default: [20, 50], shown: "20,50",
    help: """
      Times from the head's motion to the earliest sound that it can change, in milliseconds, \
      separated by commas.
      """)
}
