/** Takes the bytes of a body as they arrive. */
export interface BodyReader {
  piece(bytes: Uint8Array): void
  /** Called after the last byte. */
  end(): void
  /** Called if the body was cut off; nothing follows. */
  fail(error: unknown): void
}

/** The bytes of an answer, passed on as they arrive: the events of a stream would cost more than its pieces. */
export interface Body {
  /** Starts reading; to be called once. */
  read(reader: BodyReader): void
  /** Releases the connection: the rest is not read, and later events of the reader are meaningless. */
  leave(): void
}

/** Reads the first `max` bytes of a body, and abandons the rest. Rejects if the body is cut off. */
export function beginningOf(body: Body, max: number): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
    let size = 0
    const finish = (isWhole: boolean) =>
      resolve({ bytes: Buffer.concat(pieces, Math.min(size, max)), isWhole })
    body.read({
      piece(bytes) {
        if (size > max) return
        pieces.push(bytes)
        size += bytes.byteLength
        if (size <= max) return
        finish(false)
        body.leave()
      },
      end: () => finish(true),
      fail: reject,
    })
  })
}

/** Returns the body of a `Response`. */
export function bodyOf(stream: ReadableStream<Uint8Array> | null): Body {
  const source = stream?.getReader()
  return {
    read(reader) {
      handOver(source, reader).then(() => reader.end(), reader.fail)
    },
    leave() {
      source?.cancel().catch(() => undefined)
    },
  }
}

async function handOver(
  source: ReadableStreamDefaultReader<Uint8Array> | undefined,
  reader: BodyReader,
): Promise<void> {
  for (;;) {
    const { done, value } = (await source?.read()) ?? { done: true, value: undefined }
    if (value === undefined || done) return
    reader.piece(value)
  }
}
