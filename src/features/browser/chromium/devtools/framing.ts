const mebibyte = 1024 * 1024

/** Bytes of one message. */
export const limits = {
  /** Of any, and of an answer that holds a picture or a document. */
  message: 16 * mebibyte,
  picture: 64 * mebibyte,
  /** Of one that is parsed where requests are answered. */
  mainThread: mebibyte,
}

/** Bytes at either end of a message that identify its session. */
const edge = 256

/** A message as it was read. */
export interface Frame {
  /** Bytes. */
  length: number
  /** All of it; undefined for one that was longer than it may be, of which only its ends were kept. */
  whole: Buffer | undefined
  head: string
  tail: string
}

/** Puts messages together from the pieces in which they come, without keeping what is longer than it may be. */
export class Framer {
  readonly #limitOf: (head: string) => number
  #parts: Buffer[] = []
  #length = 0
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)
  /** Known once the message is longer than most may be. */
  #limit: number | undefined

  /** @param limitOf bytes that a message may have which is longer than most may be, by its beginning. */
  constructor(limitOf: (head: string) => number) {
    this.#limitOf = limitOf
  }

  add(part: Buffer): void {
    this.#length += part.length
    if (this.#head.length < edge) this.#head = Buffer.concat([this.#head, part.subarray(0, edge)])
    if (this.#length > limits.message) this.#limit ??= this.#limitOf(this.#head.toString('latin1'))
    if (this.#length <= (this.#limit ?? limits.message)) {
      this.#parts.push(part)
      return
    }
    this.#parts.length = 0
    this.#tail = Buffer.concat([this.#tail, part.subarray(-edge)]).subarray(-edge)
  }

  /** The message that the parts since the last end were. */
  end(): Frame {
    const length = this.#length
    const isWhole = length <= (this.#limit ?? limits.message)
    const whole = isWhole ? join(this.#parts) : undefined
    const head = this.#head.toString('latin1', 0, edge)
    const tail = (whole ?? this.#tail).subarray(-edge).toString('latin1')
    this.#parts = []
    this.#length = 0
    this.#head = this.#tail = Buffer.alloc(0)
    this.#limit = undefined
    return { length, whole, head, tail }
  }
}

function join(parts: readonly Buffer[]): Buffer {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts)
}
