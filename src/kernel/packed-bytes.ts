const chunkBytes = 256 * 1024
/** Beginnings of names that are kept once, at most, each of at most so many characters. */
const maxHeads = 4096
const maxHeadLength = 128
const isWide = /[^\0-\xff]/

/** Numbers and texts as bytes outside of the heap. What names begin with is kept once. */
export class PackedBytes {
  readonly #chunks: Buffer[] = []
  readonly #heads: string[] = ['']
  readonly #places = new Map<string, number>([['', 0]])
  /** What is being written, until `end`. */
  #draft = Buffer.allocUnsafe(4096)
  #length = 0
  /** Free in the last chunk. */
  #free = 0

  /** How much room is taken. */
  get sizeBytes(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, -this.#free)
  }

  /** Writes a whole number below 2^49. */
  writeNumber(value: number): void {
    this.#need(8)
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80))
      this.#draft[this.#length++] = (rest % 0x80) | 0x80
    this.#draft[this.#length++] = rest
  }

  /** Writes a text of which nothing is known. */
  writeText(text: string): void {
    const isLatin = !isWide.test(text)
    this.writeNumber(text.length * 2 + (isLatin ? 0 : 1))
    this.#need(text.length * 2)
    this.#length += this.#draft.write(text, this.#length, isLatin ? 'latin1' : 'utf16le')
  }

  /** Writes a text that others are alike up to `shared` characters; by default up to its last slash. */
  writeName(text: string, shared: number = text.lastIndexOf('/') + 1): void {
    const place = this.#placeOf(text.slice(0, shared))
    this.writeNumber(place ?? 0)
    this.writeText(place === undefined ? text : text.slice(shared))
  }

  /** Ends what was written since the last end, and returns where it is. */
  end(): number {
    if (this.#length > this.#free) {
      const size = Math.max(chunkBytes, this.#length)
      this.#chunks.push(Buffer.allocUnsafeSlow(size))
      this.#free = size
    }
    const chunk = this.#chunks.at(-1)!
    const at = chunk.length - this.#free
    this.#draft.copy(chunk, at, 0, this.#length)
    this.#free -= this.#length
    this.#length = 0
    return (this.#chunks.length - 1) * chunkBytes + at
  }

  /** Returns what reads on from `at`, which `end` gave. */
  reader(at: number): PackedReader {
    return new PackedReader(
      this.#chunks[Math.floor(at / chunkBytes)]!,
      at % chunkBytes,
      this.#heads,
    )
  }

  #placeOf(head: string): number | undefined {
    const known = this.#places.get(head)
    if (known !== undefined || head.length > maxHeadLength || this.#heads.length === maxHeads)
      return known
    this.#places.set(head, this.#heads.length)
    return this.#heads.push(head) - 1
  }

  #need(bytes: number): void {
    if (this.#length + bytes <= this.#draft.length) return
    const more = Buffer.allocUnsafe(2 * (this.#length + bytes))
    this.#draft.copy(more, 0, 0, this.#length)
    this.#draft = more
  }
}

/** Reads what `PackedBytes` wrote, in the same order. */
export class PackedReader {
  readonly #bytes: Buffer
  readonly #heads: readonly string[]
  #at: number

  constructor(bytes: Buffer, at: number, heads: readonly string[]) {
    this.#bytes = bytes
    this.#at = at
    this.#heads = heads
  }

  readNumber(): number {
    let value = 0
    let byte = 0x80
    for (let scale = 1; byte >= 0x80; scale *= 0x80) {
      byte = this.#bytes[this.#at++]!
      value += (byte & 0x7f) * scale
    }
    return value
  }

  readText(): string {
    const told = this.readNumber()
    const from = this.#at
    const isLatin = told % 2 === 0
    this.#at += isLatin ? told / 2 : told - 1
    return isLatin
      ? this.#bytes.toString('latin1', from, this.#at)
      : this.#bytes.toString('utf16le', from, this.#at)
  }

  readName(): string {
    const head = this.#heads[this.readNumber()]!
    return head + this.readText()
  }

  skipName(): void {
    this.readNumber()
    const told = this.readNumber()
    this.#at += told % 2 === 0 ? told / 2 : told - 1
  }
}
