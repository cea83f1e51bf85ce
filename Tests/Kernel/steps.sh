# SPDX-License-Identifier: Apache-2.0
# The steps that each tracker goes through, for scripts that run in the guest. They set `program`,
# and `as` to the words before it. The virtual head obeys the folder /run/head (virtual_head.py).
# The times allow for an emulated processor.
. "$KERNEL_TOOLS/guest.sh"
failures=0 as=()
export HOME=/run/home XDG_STATE_HOME=/run/home XDG_CONFIG_HOME=/run/home/.config
mkdir -p $XDG_CONFIG_HOME/stillstage /run/head
ordinary=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# check TEXT COMMAND: prints "ok" or "FAILED"
check() { if eval "$2"; then echo "ok: $1"; else echo "FAILED: $1"; failures=$((failures + 1)); fi; }

# list [OPTION...]: lists the trackers in /run/list.txt
list() { "${as[@]}" "$program" trackers "$@" > /run/list.txt 2> /run/notes.txt; cat /run/notes.txt /run/list.txt; }
# Prints how long a list takes: elapsed, user and system time in s. The words before the program are
# given.
list_time() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" "${as[@]}" "$program" trackers --json > /dev/null 2>&1; } 2>&1
}
# lists_quickly WORD...: compares the time of a list with that of one without the tracker, for which
# these words come before the program. By turns, because the speed of the emulator changes. Waiting
# counts in full; computing counts as long as it takes on the host ($STILLSTAGE_HOST_TIME: the
# processor time of a list there).
lists_quickly() {
  rm -f /run/without.txt /run/with.txt
  for _ in 1 2 3 4 5 6 7 8; do list_time "$@" >> /run/without.txt; list_time env >> /run/with.txt; done
  sort -n /run/without.txt | head -1 > /run/times.txt; sort -n /run/with.txt | head -1 >> /run/times.txt
  awk -v host="${STILLSTAGE_HOST_TIME:-0}" '
    { time[NR] = $1; computing[NR] = $2 + $3 }
    END {
      more = computing[2] - computing[1]; waiting = time[2] - time[1] - more
      if (host > 0 && computing[1] > host) more *= host / computing[1]
      print "listing takes " time[1] " s without the tracker, " time[2] " s with it; on the host " waiting + more " s longer"
      exit !(waiting + more <= 0.3)
    }' /run/times.txt > /run/longer.txt
  local longer=$?
  cat /run/longer.txt
  check "listing takes at most 0.3 s longer" '[ $longer = 0 ]'
}
# without FOLDERS COMMAND...: runs a command for which these folders are empty
without() { unshare -m sh -c 'folders=$1; shift; for f in $folders; do mount -t tmpfs none $f; done; exec "$@"' sh "$@"; }

# watch ID [OPTION...]: starts to watch a tracker; the poses go to /run/watch.txt
watch() {
  : > /run/watch.txt
  "${as[@]}" "$program" trackers watch "$@" > /run/watch.txt 2> /run/notes.txt & watching=$!
}
stop_watching() { kill -INT $watching; wait $watching; status=$?; cat /run/notes.txt; tail -1 /run/watch.txt; }
poses() { [ "$(wc -l < /run/watch.txt)" -gt "$1" ]; }
notes() { [ "$(grep -c "$1" /run/notes.txt)" = "$2" ]; }
is_watched() { check "it is watched" 'until_true "poses 20" 90'; }
# Whether the head turns by 80 degrees. The front is where it looked first.
turns() { check "the head turns by 80 degrees${1:-}" 'until_true is_wide 120; cat /run/yaws.txt; is_wide'; }
is_wide() {
  awk 'NR == 1 || $2 > max { max = $2 } NR == 1 || $2 < min { min = $2 }
    END { print "yaw from " min " to " max; exit !(max - min > 75 && max - min < 90) }' /run/watch.txt > /run/yaws.txt
}
is_lost() { check "$1" "until_true 'notes disconnected $2' 90"; }
is_found_again() { check "it is found again${2:-}" "until_true 'notes \"is connected\" $1' 120"; }

# is_calibrated ID: calibrates as the instructions say, and watches with the calibration
is_calibrated() {
  check "it is calibrated" "calibrate '$1'"
  watch "$1"; turns " with the calibration"; stop_watching
}
calibrate() {
  echo "0 0 0" > /run/head/pose
  "${as[@]}" "$program" calibrate "$1" > /run/calibrate.txt 2>&1 & calibrating=$!
  asks "Look up"; echo "0 35 0" > /run/head/pose
  asks "ahead again"; echo "0 0 0" > /run/head/pose
  asks "Turn to the left"; echo "90 0 0" > /run/head/pose
  wait $calibrating; status=$?; cat /run/calibrate.txt; rm /run/head/pose
  return $status
}
# asks TEXT: waits until the calibration says this, or ends
asks() { until_true "grep -q '$1' /run/calibrate.txt || ! kill -0 $calibrating" 200; }
