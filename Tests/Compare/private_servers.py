# SPDX-License-Identifier: Apache-2.0
"""Private sound servers for the scripts in this folder. They need neither the user's server nor its D-Bus."""
import os
import subprocess
import sys
import time


class PrivateServer:
    """A PulseAudio server, or PipeWire with its PulseAudio protocol. `end` ends all of its processes."""

    def __init__(self, folder, kind='pulse', arguments=()):
        """Starts a server that keeps its files in `folder`. `kind` is 'pulse' or 'pipewire'; `arguments` are those of
        pulseaudio."""
        self.folder, self.kind, self.arguments = folder, kind, list(arguments)
        os.makedirs(folder + '/pulse', mode=0o700, exist_ok=True)
        self.address = 'unix:%s/pulse/native' % folder
        self.children = []
        bus = 'unix:path=%s/bus' % folder
        self.environment = dict(
            os.environ, HOME=folder, XDG_RUNTIME_DIR=folder, PIPEWIRE_RUNTIME_DIR=folder, XDG_STATE_HOME=folder,
            XDG_CONFIG_HOME=folder, PULSE_RUNTIME_PATH=folder + '/pulse', PULSE_STATE_PATH=folder,
            PULSE_SERVER=self.address, DBUS_SESSION_BUS_ADDRESS=bus)
        self.environment.pop('DISPLAY', None)
        self.start()

    def start(self):
        """Starts the processes of the server, and waits until it answers."""
        if self.kind == 'pulse':
            self.servers = [self.launch(
                'pulseaudio --daemonize=no -n --exit-idle-time=-1 --use-pid-file=no --disable-shm=yes --realtime=no '
                '--high-priority=no', '-L', 'module-native-protocol-unix socket=%s/pulse/native auth-anonymous=1' %
                self.folder, *self.arguments)]
        else:
            self.launch('dbus-daemon --session --nofork --address=unix:path=%s/bus' % self.folder)
            self.await_file('bus')
            self.servers = [self.launch('pipewire')]
            self.await_file('pipewire-0')
            self.servers += [self.launch('wireplumber'), self.launch('pipewire-pulse')]
        for _ in range(100):
            if self.pactl('info', check=False).returncode == 0:
                return
            time.sleep(0.05)
        self.end()
        sys.exit('the sound server does not start; see the log in ' + self.folder)

    def ports(self, direction, start):
        """Returns the names of PipeWire's ports (`-i`: inputs, `-o`: outputs, `-io`: both) that begin with `start`."""
        listed = subprocess.run(['pw-link', direction], env=self.environment, capture_output=True, text=True).stdout
        return [port for port in listed.split() if port.startswith(start)]

    def await_ports(self, starts):
        """Waits until PipeWire has a port that begins with each of `starts`."""
        for _ in range(200):
            ports = self.ports('-io', '')
            if all(any(port.startswith(start) for port in ports) for start in starts):
                return
            time.sleep(0.05)
        sys.exit('PipeWire does not create the ports of its sources; see the log in ' + self.folder)

    def launch(self, command, *arguments):
        environment = {name: value for name, value in self.environment.items() if name != 'PULSE_SERVER'}
        with open(self.folder + '/log', 'a') as log:
            child = subprocess.Popen(command.split() + list(arguments), env=environment, stdout=log, stderr=log)
        self.children.append(child)
        return child

    def await_file(self, name):
        for _ in range(100):
            if os.path.exists('%s/%s' % (self.folder, name)):
                return
            time.sleep(0.05)

    def pactl(self, *arguments, check=True):
        return subprocess.run(('pactl',) + arguments, env=self.environment, check=check, capture_output=True, text=True)

    def load(self, *arguments):
        """Loads a module and returns its number."""
        return self.pactl('load-module', *arguments).stdout.strip()

    def prefer(self):
        """Lets the processes that this object has started run before all others, if the system permits it."""
        for child in self.children:
            for task in os.listdir('/proc/%d/task' % child.pid) if child.poll() is None else []:
                try:
                    os.sched_setscheduler(int(task), os.SCHED_RR, os.sched_param(8))
                except OSError:
                    pass

    def stop(self, child):
        if child and child.poll() is None:
            child.kill()
            child.wait()

    def end(self):
        for child in reversed(self.children):
            self.stop(child)
