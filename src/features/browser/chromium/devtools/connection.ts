import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { ConnectOverCDPTransport } from 'playwright-core'
import { type Frame, Framer, limits } from './framing.ts'
import { type Message, mostValues, parseMessage } from './parse-message.ts'

/** Carries messages of the DevTools protocol, as JSON. */
export interface Wire {
  /** Reads frames only as fast as they are consumed. Throws, or ends, when no more will come. */
  frames(framer: Framer): AsyncIterable<Frame>
  send(text: string): void
  /** Ends the frames, and also the browser if it was started here. */
  close(): void
}

/** Parses a large message in a thread; undefined for one with too many values. */
export type ParseLarge = (bytes: Buffer) => Promise<Message | undefined>

/** Gets reports about the pages of one context. */
export interface Watcher {
  /** A page sent more than can be read; messages might be lost, so it can't continue. */
  onExcess(sentence: string): void
  /** This number of lines of a page's console was left out. */
  onLinesLeftOut(pageId: string, lines: number): void
}

/** Commands whose result is a picture or a document. */
const pictured = new Set(['Page.captureScreenshot', 'Page.printToPDF'])
/** Commands that other commands do not need: a result that is too large is dropped. */
const optional = new Set(['DOMDebugger.getEventListeners'])
/** Events that a page can send in any number. */
const talk = new Set(['Runtime.consoleAPICalled', 'Runtime.exceptionThrown', 'Log.entryAdded'])
/** Max console lines of a page in a second, and their bytes; a single line can have more bytes. */
const most = { lines: 200, bytes: 4 * 1024 * 1024 }
const second = 1000
/** Max bytes in the reported bodies of a page's requests. */
const maxPostDataSize = 65_536
/** Max time in which a browser answers, also on a very busy machine (ms). */
const answersWithinMs = 4000
/** Interval between checks that a browser still answers (ms). */
const lookEveryMs = 2000
/** The first id of own commands, above Playwright's ids. */
const firstOwnId = 2 ** 30

const noAnswer = 'The browser of this session no longer answered, and was ended.'

/** A session of the protocol, attached to a page. */
interface Attached {
  contextId: string | undefined
  pageId: string
  /** True if Playwright reads the page's events here; other connections only send commands. */
  isHeard: boolean
}

/** Console lines of one page in a second, and the number of lines left out. */
interface Said {
  lines: number
  bytes: number
  leftOut: number
}

/** Connects Playwright and one browser, limits the messages of pages, and ends stuck browsers. */
export class DevToolsConnection implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void
  onclose?: (reason?: string) => void
  /** Resolves when the browser sends no more. */
  readonly closed: Promise<void>
  /** The reason of the end, if pages caused it. */
  failure: string | undefined
  readonly #wire: Wire
  readonly #parseLarge: ParseLarge
  readonly #pictures = new Set<number>()
  readonly #optional = new Set<number>()
  readonly #attached = new Map<string, Attached>()
  readonly #watchers = new Map<string, Watcher>()
  readonly #said = new Map<string, Said>()
  #ownId = firstOwnId
  #answering: Promise<boolean> | undefined
  #answered = Promise.withResolvers<boolean>()
  #isClosed = false

  constructor(wire: Wire, parseLarge: ParseLarge) {
    this.#wire = wire
    this.#parseLarge = parseLarge
    this.closed = this.#read().then(() => this.close())
  }

  send(message: Message): void {
    const { id, method } = message
    if (this.#isClosed) return
    if (id !== undefined && pictured.has(method ?? '')) this.#pictures.add(id)
    if (id !== undefined && optional.has(method ?? '')) this.#optional.add(id)
    const isNetwork = method === 'Network.enable'
    const sentMessage = isNetwork ? { ...message, params: { ...message.params, maxPostDataSize } } : message
    this.#wire.send(JSON.stringify(sentMessage))
  }

  /** Closes the connection at once, even if the browser does not answer. */
  close(failure?: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.failure = failure
    this.#answered.resolve(false)
    this.#wire.close()
    this.onclose?.()
  }

  /** Returns true if the browser still answers commands in time. */
  answers(): Promise<boolean> {
    this.#answering ??= this.#checkAnswer().finally(() => {
      this.#answering = undefined
    })
    return this.#answering
  }

  async #checkAnswer(): Promise<boolean> {
    if (this.#isClosed) return false
    const abort = new AbortController()
    const late = delay(answersWithinMs, false, { signal: abort.signal }).then(async () => {
      // This process might have been busy and not have read the answer yet.
      for (let turns = 0; turns < 2; turns += 1) await nextTurn()
      return false
    })
    late.catch(() => {})
    this.#answered = Promise.withResolvers()
    this.#ownId += 1
    this.send({ id: this.#ownId, method: 'Browser.getVersion' })
    return await Promise.race([this.#answered.promise, late]).finally(() => abort.abort())
  }

  /** Waits for the browser's work as long as it answers; a browser that no longer answers is ended. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    const done = work.then(
      () => true,
      () => true,
    )
    const look = async (): Promise<boolean> => {
      if (await Promise.race([done, delay(lookEveryMs, false, { ref: false })])) return true
      return (await this.answers()) && look()
    }
    if (!(await look())) this.close(noAnswer)
    return await work
  }

  /** Reports the pages of a context, given by its protocol id, until the returned function is called. */
  watch(contextId: string, watcher: Watcher): () => void {
    this.#watchers.set(contextId, watcher)
    return () => void this.#watchers.delete(contextId)
  }

  /** Never rejects: an unreadable message ends the connection. */
  async #read(): Promise<void> {
    try {
      for await (const frame of this.#wire.frames(new Framer(head => this.#limitOf(head)))) {
        const message = await this.#messageOf(frame)
        // Each message gets its own turn: fresh pages sometimes hang if several arrive in one.
        if (message !== undefined) await nextTurn()
        if (this.#isClosed) return
        if (message?.id === this.#ownId) this.#answered.resolve(true)
        if (message !== undefined && !(message.id !== undefined && message.id > firstOwnId))
          await this.onmessage?.(message)
      }
    } catch {
      // A pipe or a socket broke, or contained no JSON.
    }
  }

  #limitOf(head: string): number {
    const { id } = addressOf(head, '')
    return id !== undefined && this.#pictures.has(id) ? limits.picture : limits.message
  }

  async #messageOf(frame: Frame): Promise<Message | undefined> {
    const { whole, head, tail, length } = frame
    const address = addressOf(head, tail)
    if (this.#isLeftOut(address, length)) return undefined
    if (address.id !== undefined) this.#pictures.delete(address.id)
    const parse = length > limits.mainThread ? this.#parseLarge : parseMessage
    const message = whole && (await parse(whole))
    const isOptional = address.id !== undefined && this.#optional.delete(address.id)
    if (message === undefined) return this.#refuse(address, frame, isOptional)
    this.#follow(message)
    return message
  }

  /** Counts lines of consoles, and returns true for a line to leave out. */
  #isLeftOut({ method, sessionId = '' }: Address, length: number): boolean {
    if (!talk.has(method ?? '')) return false
    const attached = this.#attached.get(sessionId)
    if (attached === undefined) return false
    if (!attached.isHeard) return true
    const said = this.#said.get(sessionId) ?? { lines: 0, bytes: 0, leftOut: 0 }
    said.lines += 1
    said.bytes += length
    if (said.lines === 1) {
      this.#said.set(sessionId, said)
      setTimeout(() => {
        this.#said.delete(sessionId)
        if (said.leftOut === 0) return
        this.#watchers.get(attached.contextId ?? '')?.onLinesLeftOut(attached.pageId, said.leftOut)
        // Such a page might block its browser.
        void this.answers().then(isAlive => isAlive || this.close(noAnswer))
      }, second).unref()
    }
    const isLeftOut = said.lines > most.lines || (said.lines > 1 && said.bytes > most.bytes)
    if (isLeftOut) said.leftOut += 1
    return isLeftOut
  }

  #follow({ method, params }: Message): void {
    const { sessionId, targetInfo, waitingForDebugger } = (params ?? {}) as Partial<AttachedToTarget>
    if (sessionId === undefined) return
    if (method === 'Target.detachedFromTarget') this.#attached.delete(sessionId)
    if (method !== 'Target.attachedToTarget') return
    this.#attached.set(sessionId, {
      contextId: targetInfo?.browserContextId,
      pageId: targetInfo?.targetId ?? '',
      isHeard: waitingForDebugger === true,
    })
  }

  /** Reports the context of the message; the result of a waiting command contains the error. */
  #refuse(
    { id, sessionId, method }: Address,
    { length, whole }: Frame,
    isOptional: boolean,
  ): Message | undefined {
    const { contextId } = this.#attached.get(sessionId ?? '') ?? {}
    const size = `${Math.ceil(length / 1024 / 1024)} MiB`
    const what = whole ? `more than ${mostValues} values` : `${size}, more than are read,`
    const sentence = `A page of this session had its browser send ${what} at once${method ? ` (${method})` : ''}.`
    if (contextId !== undefined && !isOptional) this.#watchers.get(contextId)?.onExcess(sentence)
    // The connection can't continue without an event of the browser itself.
    else if (id === undefined) this.close()
    if (id === undefined) return undefined
    return { id, ...(sessionId !== undefined && { sessionId }), ...errorOf(sentence) }
  }
}

interface AttachedToTarget {
  sessionId: string
  targetInfo: { targetId: string; browserContextId?: string }
  waitingForDebugger: boolean
}

const errorOf = (message: string) => ({ error: { code: -32_000, message } })

interface Address {
  id?: number
  method?: string
  sessionId?: string
}

/** Reads both ends of a message: no text of a page, in which quotes are escaped, looks like them. */
function addressOf(head: string, tail: string): Address {
  const { id, method, first } =
    /^\{(?:"id":(?<id>\d+)|"method":"(?<method>[\w.]+)")?,?(?:"sessionId":"(?<first>\w+)")?/.exec(head)
      ?.groups ?? {}
  const sessionId = /,"sessionId":"(\w+)"\}$/.exec(tail)?.[1] ?? first
  return {
    ...(id !== undefined && { id: Number(id) }),
    ...(method !== undefined && { method }),
    ...(sessionId !== undefined && { sessionId }),
  }
}
