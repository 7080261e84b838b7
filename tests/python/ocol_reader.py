"""A second reader of .ocol files, written from docs/format/ocol.md alone: small, slow, no dependencies.

Usage: ocol_reader.py FILE
Prints each row of the forward codes, then each posting list of the whole file, values in hexadecimal:

    =776f7264          a row with the value "word"; "=" alone is the empty string
    null               a row without a value
    =776f7264: 0 2 7   the rows of a value, from the postings

Both forms are read, the ordinary and the packed one, which has no posting lists.
zstd frames are decompressed by Python's own module where there is one (3.14), else by the zstd program.
"""

import struct
import subprocess
import sys

BLOCK_ROWS = 65536


def crc_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def expect(condition, what):
    if not condition:
        raise ValueError(what)


def check(data, crc, what):
    expect(crc32c(data) == crc, f"{what}: checksum")


def unzstd(frame, raw_length):
    try:
        from compression import zstd

        raw = zstd.decompress(frame)
    except ImportError:
        raw = subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout
    expect(len(raw) == raw_length, "zstd frame: length")
    return raw


class Fields:
    """A cursor over bytes."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        expect(self.at + length <= len(self.data), "cut off")
        self.at += length
        return self.data[self.at - length : self.at]

    def unpack(self, layout):
        values = struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))
        return values if len(values) > 1 else values[0]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.unpack("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def end(self):
        expect(self.at == len(self.data), "bytes left over")


def bits_of(number):
    return number.bit_length()


def planes(fields, count, width):
    """Planes: parts of 8 bits, then 4, 2, 1; most significant first."""
    values = [0] * count
    for part in [8] * (width // 8) + [part for part in (4, 2, 1) if width & part]:
        data = fields.take((count * part + 7) // 8)
        per_byte, mask = 8 // part, (1 << part) - 1
        for index in range(count):
            piece = data[index // per_byte] >> part * (index % per_byte) & mask
            values[index] = values[index] << part | piece
    return values


def code_block(data, count, classes, part=None):
    encoding = data[0]
    data = data[1:]
    if encoding & 0x80:
        raw_length = struct.unpack("<I", data[:4])[0]
        data = unzstd(data[4:], raw_length)
    fields = Fields(data)
    encoding &= 0x7F
    if encoding == 0:
        values = [fields.unpack("I")] * count
    elif encoding == 1:
        width, base, runs = fields.unpack("BII")
        lengths = [length + 1 for length in planes(fields, runs, 16)]
        of = [base + value for value in planes(fields, runs, width)]
        values = [value for length, value in zip(lengths, of) for _ in range(length)]
    elif encoding == 2:
        width, base, size = fields.unpack("BII")
        local = [base + value for value in planes(fields, size, width)]
        values = [local[index] for index in planes(fields, count, bits_of(size - 1))]
    elif encoding == 3:
        width, base = fields.unpack("BI")
        values = [base + value for value in planes(fields, count, width)]
    elif encoding == 4:
        counts = fields.unpack("16I")
        tags = planes(fields, count, 4)
        first, streams = 0, []
        for index, rows in enumerate(counts):
            size, width = classes[index] if index < len(classes) else (0, 0)
            streams.append(iter([first + offset for offset in planes(fields, rows, width)]))
            first += size
        values = [next(streams[tag]) for tag in tags]
    elif encoding == 5:
        width, value = fields.unpack("BI")
        values = [value]
        for number in planes(fields, count - 1, width):
            value = value + (number >> 1 ^ -(number & 1)) & 0xFFFFFFFF
            values.append(value)
    elif encoding == 6 and part is not None:
        values = tokens(fields, part)
    else:
        raise ValueError(f"unknown encoding {encoding}")
    fields.end()
    expect(len(values) == count, "rows of a block")
    return values


def tokens(fields, part):
    """One block of a group; the others are passed over."""
    ones, twos, parts = fields.unpack("HHI")
    expect(ones + twos <= 256 and part < parts, "group")
    blocks = [fields.take(length) for length in [fields.unpack("I") for _ in range(parts)]]
    block, values = Fields(blocks[part]), []
    while block.at < len(block.data):
        first = block.unpack("B")
        if first < ones:
            values.append(first)
        elif first < ones + twos:
            values.append(ones + (first - ones << 8) + block.unpack("B"))
        else:
            rest = first - ones - twos << 16 | int.from_bytes(block.take(2), "big")
            values.append(ones + (twos << 8) + rest)
    return values


class Section:
    def __init__(self, file, fields):
        self.kind, self.flags, offset, length = fields.unpack("IIQQ")
        table, table_length, table_crc, self.parameter = fields.unpack("QQII")
        expect(table + table_length == length and offset + length <= len(file), "section bounds")
        self.data = file[offset : offset + table]
        self.table = file[offset + table : offset + length]
        check(self.table, table_crc, "section table")


def dictionary(section, value_count):
    per_block = 1 << section.parameter
    block_count = -(-value_count // per_block)
    fields = Fields(section.table)
    entries = [fields.unpack("QQQII") for _ in range(block_count)]
    fences = fields.take(len(section.table) - fields.at)
    values = []
    for index, (offset, raw_bytes, fence_end, crc, method) in enumerate(entries):
        end = entries[index + 1][0] if index + 1 < block_count else len(section.data)
        raw = section.data[offset:end]
        check(raw, crc, "dictionary block")
        if method == 1:
            raw = unzstd(raw, raw_bytes)
        expect(len(raw) == raw_bytes, "dictionary block: length")
        fence = fences[entries[index - 1][2] if index else 0 : fence_end]
        before = values[-1] if values else None
        values += dictionary_block(raw, min(per_block, value_count - index * per_block))
        first = values[index * per_block]
        expect(fence <= first and (fence > before if index else fence == b""), "fence")
    expect(values == sorted(set(values)), "values are not ascending")
    return values


def dictionary_block(raw, count):
    buckets = -(-count // 16)
    width, layout = (2, "H") if len(raw) < 1 << 16 else (4, "I") if len(raw) < 1 << 32 else (8, "Q")
    fields = Fields(raw)
    starts = [0] + [fields.unpack(layout) for _ in range(buckets - 1)]
    body = fields.at
    expect(body == width * (buckets - 1), "bucket offsets")
    values = []
    for index in range(count):
        if index % 16 == 0:
            expect(fields.at - body == starts[index // 16], "bucket offset")
            before = b""
        head = fields.unpack("B")
        shared, rest = head >> 4, head & 15
        if shared == 15:
            shared += fields.varint()
        if rest == 15:
            rest += fields.varint()
        expect(shared <= len(before), "shared bytes")
        before = before[:shared] + fields.take(rest)
        values.append(before)
    fields.end()
    return values


def codes(section, count, has_groups=False):
    """The integers of a codes section or class map, their class table, and the block table's zone maps."""
    fields = Fields(section.table)
    class_count, _ = fields.unpack("II")
    classes = [fields.unpack("II") for _ in range(class_count)]
    values, zones = [], []
    for start in range(0, count, BLOCK_ROWS):
        offset, length, crc, least, greatest, nulls, part = fields.unpack("QIIIIII")
        data = section.data[offset : offset + length]
        check(data, crc, "code block")
        rows = min(BLOCK_ROWS, count - start)
        values += code_block(data, rows, classes, part if has_groups else None)
        zones.append((start, start + rows, least, greatest, nulls))
    fields.end()
    return values, classes, zones


class Bits:
    """A bit string, least significant bit first."""

    def __init__(self, data):
        self.number, self.length, self.at = int.from_bytes(data, "little"), 8 * len(data), 0

    def take(self, count):
        expect(self.at + count <= self.length, "bits cut off")
        self.at += count
        return self.number >> self.at - count & (1 << count) - 1


def list_bits(n, rows):
    if n == 0:
        return 0
    if n == 1:
        return bits_of(rows - 1)
    if 4 * n >= rows:
        return rows
    low = bits_of(rows // n) - 1
    return n * low + n + (rows - 1 >> low)


def read_list(bits, n, rows):
    if n == 0:
        return []
    if n == 1:
        return [bits.take(bits_of(rows - 1))]
    if 4 * n >= rows:
        word = bits.take(rows)
        return [row for row in range(rows) if word >> row & 1]
    low = bits_of(rows // n) - 1
    lows = [bits.take(low) for _ in range(n)]
    word, size = bits.take(n + (rows - 1 >> low)), n + (rows - 1 >> low)
    ones = [position for position in range(size) if word >> position & 1]
    return [position - index << low | lows[index] for index, position in enumerate(ones)]


def postings(section, symbols, rows):
    per_group = 1 << section.parameter
    limit = 1 << 15 - section.parameter
    group_count = -(-symbols // per_group)
    fields, lists = Fields(section.table), []
    for page in range(0, group_count, 2040):
        start = fields.at
        offset, lengths = fields.unpack("Q"), fields.unpack("2040H")
        check(section.table[start : fields.at], fields.unpack("I"), "postings page")
        for length in lengths[: group_count - page]:
            group = section.data[offset : offset + length]
            offset += length
            check(group[:-4], struct.unpack("<I", group[-4:])[0], "postings group")
            bits = Bits(group[:-4])
            width = bits.take(6)
            counts = [bits.take(width) for _ in range(per_group)]
            for n in counts:
                size = list_bits(n, rows)
                if size <= limit:
                    lists.append(read_list(bits, n, rows))
                    continue
                at = bits.take(48)
                end = at + (size + 7) // 8
                data = section.data[at:end]
                check(data, struct.unpack("<I", section.data[end : end + 4])[0], "posting list")
                lists.append(read_list(Bits(data), n, rows))
    fields.end()
    expect(not any(lists[symbols:]), "lists of codes that do not exist")
    return lists[:symbols]


class Segment:
    def __init__(self, file, fields, has_groups):
        self.rows, self.value_count, self.nulls, self.text_bytes, self.floor_bits, count, _ = fields.unpack("QQQQQII")
        sections = {section.kind: section for section in (Section(file, fields) for _ in range(count))}
        expect(all(kind in (1, 2, 3, 4) or section.flags & 1 for kind, section in sections.items()), "unknown section")
        symbols = self.value_count + (self.nulls > 0)
        self.values = dictionary(sections[1], self.value_count)
        self.symbols = self.values + [None] * (self.nulls > 0)
        self.codes = self.lists = None
        if 3 in sections:
            self.codes, classes, zones = codes(sections[3], self.rows, has_groups)
            if 2 in sections:
                self.codes = self.by_class(sections[2], classes)
            for start, end, least, greatest, nulls in zones:
                present = [code for code in self.codes[start:end] if code < self.value_count]
                expect(nulls == end - start - len(present), "null count of a block")
                expect(not present or (least, greatest) == (min(present), max(present)), "zone map")
            found = sum(len(self.symbols[code] or b"") for code in self.codes)
            expect(found == self.text_bytes and len(self.codes) == self.rows, "text bytes")
        if 4 in sections:
            self.lists = postings(sections[4], symbols, self.rows)
            expect(sum(map(len, self.lists)) == self.rows, "rows of the postings")

    def by_class(self, section, classes):
        of_symbol, _, _ = codes(section, len(self.symbols))
        order = sorted(range(len(of_symbol)), key=lambda code: (of_symbol[code], code))
        for index, (size, width) in enumerate(classes):
            expect(of_symbol.count(index) == size <= 1 << width, "class size")
        return [order[rank] for rank in self.codes]


def read(file):
    header = Fields(file[:64])
    expect(header.take(8) == b"\x8aOCOL\r\n\x1a", "magic")
    major, _, _, _, _, incompatible, footer, length, footer_crc, header_crc = header.unpack("HHIQQQQQII")
    expect(major == 1 and incompatible & ~1 == 0, "version")
    check(file[:60], header_crc, "header")
    data = file[footer : footer + length]
    check(data, footer_crc, "footer")
    fields = Fields(data)
    magic, segment_count, row_count = fields.unpack("4sIQ")
    expect(magic == b"OCFT", "footer magic")
    segments = [Segment(file, fields, incompatible & 1) for _ in range(segment_count)]
    fields.end()
    expect(sum(segment.rows for segment in segments) == row_count, "row count")
    return segments


ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
TEXT_LIMIT, SYMBOLS_LIMIT, PACKED_LIMIT = 1 << 21, 1 << 16, 1 << 22


def packed_frame(fields):
    """The content of a zstd frame without its magic number, whose end its block headers tell."""
    start = fields.at
    descriptor = fields.unpack("B")
    expect(descriptor & 0x2F == 0x20, "frame descriptor")
    content = fields.unpack("BHIQ"[descriptor >> 6]) + (256 if descriptor >> 6 == 1 else 0)
    expect(content <= PACKED_LIMIT, "content size")
    last = 0
    while not last:
        header = int.from_bytes(fields.take(3), "little")
        last, kind, size = header & 1, header >> 1 & 3, header >> 3
        expect(kind != 3, "type of a zstd block")
        fields.take(1 if kind == 1 else size)
    return unzstd(ZSTD_MAGIC + fields.data[start : fields.at], content)


def sized(fields, size):
    return fields.take(size - 1) if size else None


def packed_list(content, is_lines):
    if is_lines:
        expect(content[-1:] in (b"", b"\n"), "the last line has no end")
        return content.split(b"\n")[:-1]
    fields = Fields(content)
    sizes = [fields.varint() for _ in range(fields.varint())]
    values = [sized(fields, size) for size in sizes]
    fields.end()
    return values


def read_packed(file):
    """The rows of a packed file; what follows its checksum is ignored."""
    fields = Fields(file)
    form = fields.take(4)[3:]
    if form == b"C":
        count, size = fields.varint(), fields.varint()
        expect(count <= TEXT_LIMIT, "rows")
        rows = [sized(fields, size)] * count
    elif form in b"TL":
        rows = packed_list(packed_frame(fields), form == b"T")
    elif form in b"DE":
        count = fields.varint()
        values, rows = packed_list(packed_frame(fields), form == b"D"), []
        for start in range(0, count, BLOCK_ROWS):
            block = fields.take(fields.varint())
            rows += [values[code] for code in code_block(block, min(BLOCK_ROWS, count - start), [])]
    else:
        raise ValueError(f"unknown form {form}")
    check(file[: fields.at], struct.unpack("<I", file[fields.at : fields.at + 4])[0], "packed column")
    expect(sum(len(row or b"") + 1 for row in rows) <= TEXT_LIMIT, "bytes of text")
    expect(len(set(rows)) <= SYMBOLS_LIMIT and fields.at + 4 <= PACKED_LIMIT, "limits of the packed form")
    return rows


def name(value):
    return "null" if value is None else "=" + value.hex()


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    if data[:3] == b"\x8aOC" and data[3:4] != b"O":
        sys.stdout.write("".join(name(row) + "\n" for row in read_packed(data)))
        return
    segments, out = read(data), []
    if all(segment.codes is not None for segment in segments):
        out += [name(segment.symbols[code]) for segment in segments for code in segment.codes]
    if all(segment.lists is not None for segment in segments):
        rows, first = {}, 0
        for segment in segments:
            for value, found in zip(segment.symbols, segment.lists):
                rows.setdefault(value, []).extend(first + row for row in found)
            first += segment.rows
        for value in sorted(rows, key=lambda value: (value is None, value or b"")):
            out.append(name(value) + ": " + " ".join(map(str, rows[value])))
    sys.stdout.write("".join(line + "\n" for line in out))


if __name__ == "__main__":
    main()
