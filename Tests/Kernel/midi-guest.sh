# SPDX-License-Identifier: Apache-2.0
# usage: midi-guest.sh PROGRAM FOLDER [PART...]
#
# Runs in the guest, as root. FOLDER holds this script. PART is supperware, calibration, settings,
# rawmidi or mrheadtracker; without one, all parts run. Prints "ok" or "FAILED" for each check; the
# status is the number of failures.
program=$1 here=$2; shift 2
. "$here/steps.sh"
[ $# -gt 0 ] || set -- supperware calibration settings rawmidi mrheadtracker

# tracker KIND CARD: starts the device's end of the cable that is the card with this name
tracker() {
  card=$(sed -n "s/^ *\([0-9]*\) \[$2 .*/\1/p" /proc/asound/cards)
  python3 "$here/virtual_midi.py" "$1" "/dev/snd/midiC${card}D0" /run/head > /run/tracker.log 2>&1 & device=$!
  children+=($device)
  until_true 'grep -q ready /run/tracker.log' 120 || cat /run/tracker.log
}
stop_tracker() { kill $device 2> /dev/null; wait $device 2> /dev/null; }
plug_supperware() { usb_plug; until_true 'grep -q "Head Tracker" /proc/asound/seq/clients' 60; tracker supperware fmidi; }
loads_libasound() { LD_DEBUG=files "$@" 2>&1 < /dev/null | grep -q 'file=libasound'; }
last_command() { [ "$(tail -1 /run/tracker.log)" = "host: $1" ]; }
stop=f0002142000040f7

supperware() {
  list
  check "it is listed with its serial number" 'grep -q "^USB-M-1 *Head Tracker *Supperware *usb *ready" /run/list.txt'
  lists_quickly without "/proc/asound /sys/class/sound"
  check "listing loads no libasound" '! loads_libasound "$program" trackers'
  watch USB-M-1
  is_watched
  check "the library is loaded for it" 'grep -qs libasound /proc/[0-9]*/maps'
  turns
  touch /run/head/mute
  is_lost "600 ms without a message are a loss" 1
  rm /run/head/mute
  is_found_again 2
  sleep 2; usb_pull
  is_lost "a pulled cable is a loss" 2
  stop_tracker; sleep 1; plug_supperware
  is_found_again 3 " when it is plugged in"
  sleep 2; stop_watching; cat /run/tracker.log
  check "it was started, and stopped at the end" 'grep -q "^host: f00021420000280105" /run/tracker.log && last_command $stop'
}

calibration() {
  is_calibrated USB-M-1
  check "it is stopped at the end" 'until_true "last_command $stop" 20'
}

settings() {
  echo '{"midi": {"supperware": {"rate": 50, "compass": "on", "cable": "left", "zero": true}}}' > $XDG_CONFIG_HOME/stillstage/config.json
  : > /run/tracker.log
  watch USB-M-1; until_true 'poses 5' 60; stop_watching
  cat /run/tracker.log
  check "they reach the tracker" 'grep -q "host: f0002142000008010503700402f7" /run/tracker.log && grep -q "host: f0002142010001f7" /run/tracker.log'
  rm $XDG_CONFIG_HOME/stillstage/config.json
}

rawmidi() {
  mv /dev/snd/seq /dev/snd/hidden
  watch USB-M-1
  is_watched
  check "its raw device is in use" 'ls -l /proc/[0-9]*/fd 2> /dev/null | grep -v f_midi | grep -q /dev/snd/midiC'
  "$program" trackers watch USB-M-1 > /run/second.txt 2>&1 & second=$!
  check "a second program learns that it is in use" 'until_true "grep -q \"another program\" /run/second.txt" 60'
  kill -INT $second; wait $second; cat /run/second.txt
  stop_watching
  mv /dev/snd/hidden /dev/snd/seq
}

mrheadtracker() {
  stop_tracker; usb_pull
  name=$(sed -n 's/.*Port *0 : "\(VirMIDI [^"]*\)".*/\1/p' /proc/asound/seq/clients | head -1)
  id="midi:$name:mrheadtracker"
  tracker mrheadtracker VirMIDI
  list
  check "without its name in the ID it is no tracker" '! grep -q VirMIDI /run/list.txt'
  watch "$id"
  is_watched
  turns
  touch /run/head/still; echo "20 0 0" > /run/head/pose; sleep 8; tail -1 /run/watch.txt
  check "a head that keeps still is no loss, and its pose stays" 'notes disconnected 0 && awk "END { exit !(\$2 > 5 || \$2 < -5) }" /run/watch.txt'
  rm /run/head/pose /run/head/still
  # The module cannot be removed while a program uses its port, so the card is unbound.
  stop_tracker; echo snd_virmidi.0 > /sys/bus/platform/drivers/snd_virmidi/unbind &
  is_lost "a removed card is a loss" 1
  wait $!; echo snd_virmidi.0 > /sys/bus/platform/drivers/snd_virmidi/bind; until_true '[ -e /dev/snd/seq ]'; tracker mrheadtracker VirMIDI
  is_found_again 2
  stop_watching
  is_calibrated "$id"
}

echo "== kernel $(uname -r), no MIDI"
list
modprobe -a snd-usb-audio snd-virmidi snd-seq snd-seq-midi
until_true '[ -e /dev/snd/seq ]'
check "listing loads no libasound" '! loads_libasound "$program" trackers'
usb_gadget "Head Tracker" USB-M-1 midi.usb0; plug_supperware
cat /proc/asound/cards /proc/asound/seq/clients
for part; do echo "== $part"; "$part"; done
exit $failures
