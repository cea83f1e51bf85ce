# SPDX-License-Identifier: Apache-2.0
"""The screen of a terminal after it has received bytes, as text and as a picture (SVG)."""
import html
import re

SEQUENCE = re.compile(r'\x1b\[([0-9;?]*)([A-Za-z@`])')
# The beginning of a sequence, at the end of what has arrived.
BEGINNING = re.compile(r'\x1b(\[[0-9;?]*|[()*+])?$')
COLOURS = ['#1e1e1e', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#dcdfe4']
BACKGROUND, FOREGROUND = '#16181c', '#d7dae0'


class Screen:
    """A terminal of a fixed width. Its rows are cells of a character and a look.

    It knows the sequences that the program and ncurses send: ECMA-48, and xterm's alternate screen.
    """

    def __init__(self, columns, lines=None):
        self.columns, self.lines = columns, lines
        self.cells, self.row, self.column = [[]], 0, 0
        self.look, self.last, self.hidden = (), ' ', None
        self.pending, self.region, self.saved = '', None, (0, 0)

    @property
    def rows(self):
        return [''.join(character for character, _ in row) for row in self.cells]

    def move(self, row):
        self.row = max(0, row)
        while len(self.cells) <= self.row:
            self.cells.append([])

    def add(self, text):
        text = self.pending + text
        beginning = BEGINNING.search(text)
        self.pending = beginning.group(0) if beginning else ''
        text = text[:len(text) - len(self.pending)]
        at = 0
        while at < len(text):
            found = SEQUENCE.match(text, at)
            if found:
                self.obey(found.group(2), found.group(1))
                at = found.end()
                continue
            character = text[at]
            if character == '\x1b':
                # The choice of a character set has one more character.
                self.escape(text[at + 1:at + 2])
                at += 3 if text[at + 1:at + 2] in ('(', ')', '*', '+') else 2
                continue
            if character == '\r':
                self.column = 0
            elif character == '\n' and self.region and self.row == self.region[1]:
                self.scroll(up=True)
            elif character == '\n':
                self.move(self.row + 1)
            elif character == '\b':
                self.column = max(0, self.column - 1)
            elif character >= ' ':
                self.put(character)
            at += 1

    def escape(self, kind):
        if kind == '7':
            self.saved = (self.row, self.column)
        elif kind == '8':
            self.row, self.column = self.saved
        elif kind == 'M' and self.region and self.row == self.region[0]:
            self.scroll(up=False)
        elif kind == 'M':
            self.row = max(0, self.row - 1)

    def scroll(self, up):
        """Moves the rows of the scrolling region by one."""
        first, last = self.region
        while len(self.cells) <= last:
            self.cells.append([])
        self.cells.insert(last + 1 if up else first, [])
        del self.cells[first if up else last + 1]

    def put(self, character):
        if self.column == self.columns:
            self.column = 0
            self.move(self.row + 1)
        line = self.cells[self.row]
        line += [(' ', ())] * (self.column + 1 - len(line))
        line[self.column] = (character, self.look)
        self.column, self.last = self.column + 1, character

    def obey(self, final, text):
        if text == '?1049':
            return self.alternate(final == 'h')
        if text.startswith('?'):
            return
        numbers = [int(number) if number else None for number in text.split(';')]
        number = numbers[0] or 1
        line = self.cells[self.row]
        if final == 'A':
            self.row = max(0, self.row - number)
        elif final == 'B':
            self.move(self.row + number)
        elif final == 'C':
            self.column += number
        elif final == 'D':
            self.column = max(0, self.column - number)
        elif final == 'G':
            self.column = number - 1
        elif final == 'd':
            self.move(number - 1)
        elif final == 'H':
            self.move(number - 1)
            self.column = (numbers[1] or 1) - 1 if len(numbers) > 1 else 0
        elif final == 'r':
            self.region = (number - 1, numbers[1] - 1) if len(numbers) > 1 else None
            self.row, self.column = 0, 0
        elif final == 'J' and numbers[0] == 2:
            self.cells = [[] for _ in self.cells]
        elif final == 'J':
            del self.cells[self.row + 1:], line[self.column:]
        elif final == 'K' and numbers[0] == 1:
            line[:self.column + 1] = [(' ', ())] * min(self.column + 1, len(line))
        elif final == 'K':
            del line[self.column:]
        elif final == 'X':
            for column in range(self.column, min(self.column + number, len(line))):
                line[column] = (' ', ())
        elif final == 'P':
            del line[self.column:self.column + number]
        elif final == '@':
            line[self.column:self.column] = [(' ', ())] * number
        elif final == 'b':
            for _ in range(number):
                self.put(self.last)
        elif final == 'm':
            self.choose(numbers)

    def alternate(self, is_shown):
        if is_shown and self.hidden is None:
            self.hidden = (self.cells, self.row, self.column)
            self.cells, self.row, self.column = [[]], 0, 0
        elif not is_shown and self.hidden is not None:
            (self.cells, self.row, self.column), self.hidden = self.hidden, None

    def choose(self, numbers):
        look = set(self.look)
        for number in (number or 0 for number in numbers):
            if number == 0:
                look = set()
            elif number in (1, 2, 7):
                look.add({1: 'bold', 2: 'faint', 7: 'reverse'}[number])
            elif number == 22:
                look -= {'bold', 'faint'}
            elif number == 27:
                look.discard('reverse')
            elif 30 <= number <= 37 or number == 39:
                look = {word for word in look if not isinstance(word, int)}
                if number != 39:
                    look.add(number - 30)
        self.look = tuple(sorted(look, key=str))

    def svg(self, title):
        """Returns a picture of the screen. Each run of one look is one text of its exact width."""
        width, height, size = 8.4, 18, 14
        lines = self.lines or len(self.cells)
        picture = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="\'DejaVu Sans Mono\', monospace" '
                   'font-size="%d" xml:space="preserve">' % (self.columns * width + 20, lines * height + 20, size),
                   '<title>%s</title>' % html.escape(title),
                   '<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % BACKGROUND]
        for number, row in enumerate(self.cells[:lines]):
            start = 0
            while start < len(row):
                end = start
                while end < len(row) and row[end][1] == row[start][1]:
                    end += 1
                text = ''.join(character for character, _ in row[start:end])
                self.draw(picture, text, row[start][1], 10 + start * width, 10 + number * height, width, height)
                start = end
        return '\n'.join(picture) + '\n</svg>\n'

    @staticmethod
    def draw(picture, text, look, x, y, width, height):
        colour = next((COLOURS[word] for word in look if isinstance(word, int)), FOREGROUND)
        ground = None
        if 'reverse' in look:
            colour, ground = BACKGROUND, colour
            picture.append('<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>' % (x, y, len(text) * width, height, ground))
        if not text.strip():
            return
        lead = len(text) - len(text.lstrip())
        text, x = text.strip(), x + lead * width
        style = (' font-weight="bold"' if 'bold' in look else '') + (' opacity="0.6"' if 'faint' in look else '')
        picture.append('<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>' % (
            x, y + height - 5, len(text) * width, colour, style, html.escape(text)))
