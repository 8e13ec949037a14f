/** Runs in a world of its own within pages, and so may use nothing from here but its arguments. */

/** An event of rrweb; only the parts that are used here. */
interface PageEvent {
  type: number
}

interface PageElement {
  matches(selector: string): boolean
}

interface Record {
  (options: object): (() => void) | undefined
  takeFullSnapshot(isCheckout: boolean): void
}

interface Options {
  /** The options of the library itself. */
  library: object
  secretFields: string
  hiddenValue: string
  batchMs: number
  /** Characters of one snapshot; a larger page is not recorded. */
  maxSnapshot: number
  /** Characters of events in a short time; a page that changes more is shown by a snapshot when it is quiet again. */
  maxBurst: number
  /** Milliseconds in which as much may come again. */
  burstMs: number
}

export interface PageRecorder {
  snapshot(): void
  /** Sends what it has, and ends. */
  finish(): void
  /** Ends at once. */
  stop(): void
}

declare function addEventListener(name: string, listener: () => void): void
declare function removeEventListener(name: string, listener: () => void): void

/** Sends arrays of events as JSON; each snapshot is at the beginning of one. */
export function startRecording(
  record: Record,
  send: (events: string) => void,
  options: Options,
): PageRecorder {
  const { maxSnapshot, maxBurst, burstMs, batchMs } = options
  const [metaType, snapshotType, customType] = [4, 2, 5]
  let batch: string[] = []
  let left = maxBurst
  let isBehind = false
  /** Events are sent at once while the next page is awaited: the end of this one comes without a warning. */
  let isLeaving = false
  /** Fields that once were for secrets; pages show what is in them by making them others. */
  const secrets = new WeakSet<PageElement>()

  function flush(): void {
    if (batch.length > 0) send(`[${batch.join()}]`)
    batch = []
  }

  function take(event: PageEvent): void {
    if (event.type === metaType) flush()
    const isSnapshot = event.type === metaType || event.type === snapshotType
    if (isBehind && !isSnapshot) return
    const text = JSON.stringify(event)
    if (isSnapshot) keepSnapshot(text)
    else keepChange(text)
    if (isLeaving) flush()
  }

  function keepSnapshot(text: string): void {
    batch.push(text)
    if (text.length <= maxSnapshot) return
    const data = { tag: 'too_large', payload: { characters: text.length } }
    batch = [JSON.stringify({ type: customType, data, timestamp: Date.now() })]
    recorder.finish()
  }

  function keepChange(text: string): void {
    isBehind = text.length > left
    if (isBehind) return
    left -= text.length
    batch.push(text)
  }

  function leave(): void {
    isLeaving = true
    flush()
  }

  function look(): void {
    left = Math.min(maxBurst, left + (maxBurst * batchMs) / burstMs)
    flush()
    if (!isBehind || left < maxBurst) return
    isBehind = false
    record.takeFullSnapshot(true)
  }

  const maskInputFn = (text: string, element?: PageElement) => {
    const isSecret = !element || secrets.has(element) || element.matches(options.secretFields)
    if (isSecret && element) secrets.add(element)
    return isSecret && text !== '' ? options.hiddenValue : text
  }
  const end = record({ ...options.library, emit: take, maskInputFn })
  const timer = setInterval(look, batchMs)
  addEventListener('beforeunload', leave)

  const recorder = {
    snapshot: () => {
      if (!isBehind) record.takeFullSnapshot(true)
    },
    finish() {
      flush()
      recorder.stop()
    },
    stop() {
      clearInterval(timer)
      removeEventListener('beforeunload', leave)
      batch = []
      left = 0
      isBehind = true
      end?.()
    },
  }
  return recorder
}
