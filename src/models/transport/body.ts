/** Takes the bytes of a body as they arrive. */
export interface BodyReader {
  piece(bytes: Uint8Array): void
  /** Everything has arrived. */
  end(): void
  /** It was cut off; nothing follows. */
  fail(error: unknown): void
}

/** The bytes of an answer, passed on as they arrive: the events of a stream would cost more than its pieces. */
export interface Body {
  /** To be called once. */
  read(reader: BodyReader): void
  /** Releases the connection: the rest is not wanted, and later events of the reader are meaningless. */
  leave(): void
}

/** The first `most` bytes of a body, and whether that is all; the rest is abandoned. Rejects if the body is cut off. */
export function beginningOf(body: Body, most: number): Promise<{ bytes: Uint8Array; isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
    let size = 0
    const finish = (isWhole: boolean) =>
      resolve({ bytes: Buffer.concat(pieces, Math.min(size, most)), isWhole })
    body.read({
      piece(bytes) {
        if (size > most) return
        pieces.push(bytes)
        size += bytes.byteLength
        if (size <= most) return
        finish(false)
        body.leave()
      },
      end: () => finish(true),
      fail: reject,
    })
  })
}

/** The body of a `Response`. */
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
