import type { Tab } from '../sessions/browser-session.ts'

/** A client that gets frames. */
export interface FrameReceiver {
  /** Sends a frame, and calls back when it has left this process. */
  send(frame: string, sent: () => void): void
  /** Returns true if the client may see frames now. */
  maySee(): boolean
}

interface Receiving {
  receiver: FrameReceiver
  /** True while a frame is being sent; other frames are skipped meanwhile. */
  isBusy: boolean
  /** True if the last frame was skipped or not visible to the client. */
  isBehind: boolean
}

/** Interval between two frames (ms). */
const paceMs = 40
/** Max time in which a changing page sends its first frame (ms); a static one might send none. */
const firstFrameMs = 300
const format = { format: 'jpeg', quality: 75 } as const

interface ScreencastFrame {
  data: string
  /** The id of the screencast, not of the frame. */
  sessionId: number
}

/**
 * The pictures of one page for any number of receivers: the browser makes each once, only while there are
 * receivers, and the next one when it is due and a receiver is ready.
 */
export class Screencast {
  readonly #tab: Tab
  readonly #describe: () => object
  readonly #receivers = new Set<Receiving>()
  /** The last frame, and the picture in it. */
  #last: string | undefined
  #picture = ''
  /** Number of unacknowledged frames; the browser makes at most three ahead. */
  #unacknowledged = 0
  #acknowledgedAt = 0
  #sessionId = 0
  #timer: NodeJS.Timeout | undefined
  #first: NodeJS.Timeout | undefined
  /** Runs commands in order: starts and stops can follow each other quickly. */
  #commands: Promise<unknown> = Promise.resolve()
  #isRunning = false

  /** @param describe returns the tab in the form for receivers */
  constructor(tab: Tab, describe: () => object) {
    this.#tab = tab
    this.#describe = describe
    tab.cdp.on('Page.screencastFrame', frame => this.#take(frame))
  }

  /** Sends the last frame at once, and all that follow; returns a function that ends this. */
  add(receiver: FrameReceiver): () => void {
    const receiving = { receiver, isBusy: false, isBehind: true }
    this.#receivers.add(receiving)
    if (this.#receivers.size === 1) this.#run()
    this.#offer(receiving)
    return () => {
      this.#receivers.delete(receiving)
      if (this.#receivers.size === 0) this.#run()
      // The former receiver might have been the only busy one.
      else this.#acknowledge()
    }
  }

  /** Must be called when the audience of frames, or the tab's name, has changed. */
  refresh(): void {
    if (this.#last !== undefined && this.#last !== this.#frameOf(this.#picture)) this.#show(this.#picture)
    for (const receiving of this.#receivers) this.#offer(receiving)
  }

  /** Starts or stops the pictures, by whether there are receivers when the command runs. */
  #run(): void {
    this.#commands = this.#commands.then(() => this.#startOrStop()).catch(() => {})
  }

  async #startOrStop(): Promise<void> {
    const isWanted = this.#receivers.size > 0
    if (isWanted === this.#isRunning) return
    this.#isRunning = isWanted
    this.#last = undefined
    this.#unacknowledged = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
    clearTimeout(this.#first)
    if (!isWanted) {
      await this.#tab.cdp.send('Page.stopScreencast')
      return
    }
    this.#first = setTimeout(() => void this.#takePicture(), firstFrameMs).unref()
    const { width, height } = this.#tab.page.viewportSize() ?? { width: 1280, height: 720 }
    await this.#tab.cdp.send('Page.startScreencast', { ...format, maxWidth: width, maxHeight: height })
  }

  /** Takes a picture of a page that has not changed after the screencast began. */
  async #takePicture(): Promise<void> {
    const taking = this.#tab.cdp.send('Page.captureScreenshot', { ...format, optimizeForSpeed: true })
    const picture = await taking.catch(() => undefined)
    if (picture !== undefined && this.#isRunning && this.#last === undefined) this.#show(picture.data)
  }

  #take({ data, sessionId }: ScreencastFrame): void {
    if (!this.#isRunning) return
    clearTimeout(this.#first)
    this.#sessionId = sessionId
    this.#unacknowledged += 1
    this.#show(data)
    this.#acknowledge()
  }

  #show(data: string): void {
    this.#picture = data
    this.#last = this.#frameOf(data)
    for (const receiving of this.#receivers) {
      receiving.isBehind = true
      this.#offer(receiving)
    }
  }

  #frameOf(data: string): string {
    return JSON.stringify({ ...this.#describe(), data })
  }

  #offer(receiving: Receiving): void {
    const { receiver, isBusy, isBehind } = receiving
    if (this.#last === undefined || isBusy || !isBehind || !receiver.maySee()) return
    receiving.isBusy = true
    receiving.isBehind = false
    receiver.send(this.#last, () => {
      receiving.isBusy = false
      if (!this.#receivers.has(receiving)) return
      this.#offer(receiving)
      this.#acknowledge()
    })
  }

  /** Requests the next frame when it is due and a receiver has taken the last one. */
  #acknowledge(): void {
    if (this.#unacknowledged === 0 || this.#timer !== undefined) return
    const isAnyReady = [...this.#receivers].some(({ isBusy }) => !isBusy)
    if (!isAnyReady) return
    const wait = Math.max(0, this.#acknowledgedAt + paceMs - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#unacknowledged -= 1
      this.#acknowledgedAt = performance.now()
      this.#tab.cdp.send('Page.screencastFrameAck', { sessionId: this.#sessionId }).catch(() => {})
      this.#acknowledge()
    }, wait).unref()
  }
}

/** Returns one screencast for each watched tab. */
export function createScreencasts() {
  const screencasts = new WeakMap<Tab, Screencast>()
  return (tab: Tab, describe: () => object): Screencast => {
    const known = screencasts.get(tab)
    if (known !== undefined) return known
    const screencast = new Screencast(tab, describe)
    screencasts.set(tab, screencast)
    return screencast
  }
}

export type ScreencastOf = ReturnType<typeof createScreencasts>
