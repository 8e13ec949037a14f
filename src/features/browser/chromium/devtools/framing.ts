const mebibyte = 1024 * 1024

/** Max bytes of a message. */
export const limits = {
  /** `picture` limits a result with a picture or a document. */
  message: 16 * mebibyte,
  picture: 64 * mebibyte,
  /** Larger messages are parsed in another thread. */
  mainThread: mebibyte,
}

/** Bytes at either end of a message that identify its session. */
const edge = 256

export interface Frame {
  /** Length in bytes. */
  length: number
  /** The complete message; undefined for one over the limit, of which only the ends were kept. */
  whole: Buffer | undefined
  head: string
  tail: string
}

/** Joins the pieces of messages, without storing a message over its limit. */
export class Framer {
  readonly #limitOf: (head: string) => number
  #parts: Buffer[] = []
  #length = 0
  #head = Buffer.alloc(0)
  #tail = Buffer.alloc(0)
  /** Set once the message is longer than the limit of most messages. */
  #limit: number | undefined

  /** @param limitOf returns the max bytes of a long message, by its beginning. */
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

  /** Returns the message from the parts added since the last end. */
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
