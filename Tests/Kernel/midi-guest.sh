# SPDX-License-Identifier: Apache-2.0
# usage: midi-guest.sh PROGRAM FOLDER
#
# Runs in the guest, as root. FOLDER holds this script. Prints "ok" or "FAILED" for each check; the
# status is the number of failures. The times allow for an emulated processor.
. "$KERNEL_TOOLS/guest.sh"
program=$1 here=$2 failures=0
check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }
export HOME=/run/home XDG_STATE_HOME=/run/home; mkdir -p $HOME/.config/stillstage /run/head

# tracker KIND CARD: starts the device's end of the cable that is the card with this name
tracker() {
  card=$(sed -n "s/^ *\([0-9]*\) \[$2 .*/\1/p" /proc/asound/cards)
  python3 "$here/virtual_midi.py" "$1" "/dev/snd/midiC${card}D0" /run/head > /run/tracker.log 2>&1 & device=$!
  children+=($device)
  until_true 'grep -q ready /run/tracker.log' || cat /run/tracker.log
}
# watch SECONDS ID...: starts to watch a tracker; the poses go to /run/watch.txt
watch() {
  timeout -s INT "$1" "$program" trackers watch "${@:2}" --record $HOME/head.csv > /run/watch.txt 2> /run/notes.txt & watching=$!
}
# Whether the head has turned by 80 degrees. The front is where it looked first.
turns() {
  awk 'NR == 1 || $2 > max { max = $2 } NR == 1 || $2 < min { min = $2 }
    END { print "yaw from " min " to " max; exit !(max - min > 75 && max - min < 90) }' /run/watch.txt
}
# without FOLDERS COMMAND...: runs a command for which these folders are empty
without() { unshare -m sh -c 'folders=$1; shift; for f in $folders; do mount -t tmpfs none $f; done; exec "$@"' sh "$@"; }
# Prints how long a command takes, in s.
seconds() { local TIMEFORMAT=%R; { time "$@" > /dev/null 2>&1; } 2>&1; }
loads_libasound() { LD_DEBUG=files "$@" 2>&1 < /dev/null | grep -q 'file=libasound'; }
# calibrate ID...: follows the instructions of the calibration
calibrate() {
  echo "0 0 0" > /run/head/pose; sleep 2
  timeout 200 "$program" calibrate "$@" > /run/calibrate.txt 2>&1 & calibrating=$!
  until_true 'grep -q "Look up" /run/calibrate.txt' 90; echo "0 35 0" > /run/head/pose
  until_true 'grep -q "ahead again" /run/calibrate.txt' 60; echo "0 0 0" > /run/head/pose
  until_true 'grep -q "Turn to the left" /run/calibrate.txt' 60; echo "90 0 0" > /run/head/pose
  wait $calibrating; status=$?; cat /run/calibrate.txt; rm /run/head/pose
  return $status
}

echo "== kernel $(uname -r), no MIDI"
"$program" trackers > /run/list.txt 2>&1; cat /run/list.txt
modprobe -a snd-usb-audio snd-virmidi snd-seq snd-seq-midi
until_true '[ -e /dev/snd/seq ]'
check "listing loads no libasound" '! loads_libasound "$program" trackers'

echo "== Supperware on USB"
usb_gadget "Head Tracker" USB-M-1 midi.usb0; usb_plug
until_true 'grep -q "Head Tracker" /proc/asound/seq/clients' || dmesg | tail
cat /proc/asound/cards /proc/asound/seq/clients
tracker supperware fmidi
"$program" trackers > /run/list.txt; cat /run/list.txt
check "it is listed with its serial number" 'grep -q "^USB-M-1 *Head Tracker *Supperware *usb *ready" /run/list.txt'
# By turns, because the speed of the emulator changes.
for _ in 1 2 3 4 5 6 7 8; do
  seconds without "/proc/asound /sys/class/sound" "$program" trackers --json >> /run/before.txt
  seconds without "/media /mnt" "$program" trackers --json >> /run/after.txt
done
before=$(sort -n /run/before.txt | head -1) after=$(sort -n /run/after.txt | head -1)
echo "listing takes $before s without a MIDI tracker, $after s with one"
check "listing takes at most 0.3 s longer" 'awk "BEGIN { exit !($after < $before + 0.3) }"'
check "listing still loads no libasound" '! loads_libasound "$program" trackers'

watch 150 USB-M-1
check "it is watched" 'until_true "[ \$(wc -l < /run/watch.txt) -gt 20 ]" 60'
check "the library is loaded for it" 'grep -q libasound /proc/$(pgrep -P $watching -n)/maps || grep -rqs libasound /proc/[0-9]*/maps'
sleep 18
check "the head turns by 80 degrees" turns
touch /run/head/mute
check "600 ms without a message are a loss" 'until_true "[ \$(grep -c disconnected /run/notes.txt) = 1 ]"'
rm /run/head/mute
check "it is found again" 'until_true "[ \$(grep -c \"is connected\" /run/notes.txt) = 2 ]"'
sleep 2; usb_pull
check "a pulled cable is a loss" 'until_true "[ \$(grep -c disconnected /run/notes.txt) = 2 ]"'
kill $device 2> /dev/null; wait $device 2> /dev/null
sleep 1; usb_plug; until_true 'grep -q "Head Tracker" /proc/asound/seq/clients'; tracker supperware fmidi
check "it is found again when it is plugged in" 'until_true "[ \$(grep -c \"is connected\" /run/notes.txt) = 3 ]"'
sleep 2; kill -INT $watching; wait $watching; cat /run/notes.txt /run/tracker.log
check "it was started, and stopped at the end" 'grep -q "^host: f00021420000280105" /run/tracker.log && [ "$(tail -1 /run/tracker.log)" = "host: f0002142000040f7" ]'
echo "$(wc -l < $HOME/head.csv) samples"

check "it is calibrated" 'calibrate USB-M-1'
check "it is stopped after the calibration" 'until_true "[ \"\$(tail -1 /run/tracker.log)\" = \"host: f0002142000040f7\" ]" 5'
watch 30 USB-M-1; sleep 20
check "it is watched with the calibration" turns
kill -INT $watching; wait $watching

echo "== the settings in config.json"
echo '{"midi": {"supperware": {"rate": 50, "compass": "on", "cable": "left", "zero": true}}}' > $HOME/.config/stillstage/config.json
: > /run/tracker.log
watch 20 USB-M-1; until_true '[ $(wc -l < /run/watch.txt) -gt 5 ]' 40; kill -INT $watching; wait $watching
cat /run/tracker.log
check "they reach the tracker" 'grep -q "host: f0002142000008010503700402f7" /run/tracker.log && grep -q "host: f0002142010001f7" /run/tracker.log'
rm $HOME/.config/stillstage/config.json

echo "== rawmidi, without the sequencer's node"
mv /dev/snd/seq /dev/snd/hidden
watch 60 USB-M-1
check "it is watched through its raw device" 'until_true "[ \$(wc -l < /run/watch.txt) -gt 20 ]" 40'
check "the raw device is in use" 'ls -l /proc/[0-9]*/fd 2> /dev/null | grep -v f_midi | grep -q /dev/snd/midiC'
"$program" trackers watch USB-M-1 > /run/second.txt 2>&1 & second=$!
check "a second program learns that it is in use" 'until_true "grep -q \"another program\" /run/second.txt" 30'
kill -INT $second; wait $second; cat /run/second.txt
kill -INT $watching; wait $watching
mv /dev/snd/hidden /dev/snd/seq
kill $device 2> /dev/null; usb_pull

echo "== MrHeadTracker on a virtual card"
id=midi:VirMIDI:mrheadtracker
name=$(sed -n 's/.*Port *0 : "\(VirMIDI [^"]*\)".*/\1/p' /proc/asound/seq/clients | head -1)
id="midi:$name:mrheadtracker"
tracker mrheadtracker VirMIDI
"$program" trackers > /run/list.txt; cat /run/list.txt
check "without its name in the ID it is no tracker" '! grep -q VirMIDI /run/list.txt'
watch 120 "$id"
check "it is watched" 'until_true "[ \$(wc -l < /run/watch.txt) -gt 20 ]" 60'
sleep 18
check "the head turns by 80 degrees" turns
echo "20 0 0" > /run/head/pose; sleep 8; tail -1 /run/watch.txt
check "a head that keeps still is no loss, and its pose stays" '! grep -q disconnected /run/notes.txt && awk "END { exit !(\$2 > 5 || \$2 < -5) }" /run/watch.txt'
rm /run/head/pose
kill $device 2> /dev/null; wait $device 2> /dev/null; modprobe -r snd-virmidi
check "a removed card is a loss" 'until_true "[ \$(grep -c disconnected /run/notes.txt) = 1 ]"'
modprobe snd-virmidi; until_true '[ -e /dev/snd/seq ]'; tracker mrheadtracker VirMIDI
check "it is found again" 'until_true "[ \$(grep -c \"is connected\" /run/notes.txt) = 2 ]"'
kill -INT $watching; wait $watching; cat /run/notes.txt
check "it is calibrated" 'calibrate "$id"'
kill $device
exit $failures
