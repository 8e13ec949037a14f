import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { hiddenValue } from '../secrets/mask.ts'
import { secretFields } from '../secrets/secret-fields.ts'
import type { Tab } from '../sessions/browser-session.ts'
import { PageRecorder } from './in-page.ts'
import { SilentChanges } from './in-page-silent.ts'

/** An isolated world of the page's documents: the page has no access to its objects. */
const worldName = 'recording'
const binding = 'sendEvents'
/** Max time in which a page starts or ends its recorder (ms); one that hangs does not answer. */
const answersWithinMs = 5000

const options = {
  library: {
    recordAfter: 'DOMContentLoaded',
    maskAllInputs: true,
    sampling: { mousemove: 100 },
    slimDOMOptions: 'all',
  },
  // The library marks fields that once were for passwords.
  secretFields: `${secretFields}, [data-rr-is-password]`,
  hiddenValue,
  batchMs: 250,
  maxSnapshot: 4_000_000,
  maxBurst: 2_000_000,
  burstMs: 10_000,
  lookMs: { usual: 2, last: 100 },
}

/** Max characters of one message; each can take six bytes. */
const maxPart = 2_000_000

let source: Promise<string> | undefined

/** Only the main document records: it reads the frames of its origin, and no others. */
async function readSource(): Promise<string> {
  const library = await readFile(new URL('rrweb.umd.min.cjs', import.meta.resolve('rrweb')), 'utf8')
  const send = `(${sendInParts})(${binding}, ${maxPart})`
  const start = `new (${PageRecorder})(rrweb.record, ${send}, ${JSON.stringify(options)}, ${SilentChanges})`
  return `if (window === top) {\nglobalThis.recorder?.stop();\n${library};\nglobalThis.recorder = ${start}\n}`
}

/** Runs within pages. Each part begins with two flags: the first and the last part of a text. */
function sendInParts(send: (part: string) => void, longest: number) {
  return (text: string) => {
    for (let at = 0; at < text.length; at += longest)
      send(`${Number(at === 0)}${Number(at + longest >= text.length)}${text.slice(at, at + longest)}`)
  }
}

/** Records one tab, through all its navigations. */
export class TabRecorder {
  readonly tab: Tab
  readonly #send: (events: string) => void
  #script: string | undefined
  /** The text from the parts so far. */
  #begun = ''

  constructor(tab: Tab, send: (events: string) => void) {
    this.tab = tab
    this.#send = send
  }

  /** Rejects if the tab has been closed, or hangs. */
  async start(): Promise<void> {
    source ??= readSource()
    const { cdp } = this.tab
    cdp.on('Runtime.bindingCalled', this.#receive)
    const started = Promise.all([
      cdp.send('Page.enable'),
      cdp.send('Runtime.enable'),
      cdp.send('Runtime.addBinding', { name: binding, executionContextName: worldName }),
      source.then(text => addScript(cdp, text)),
    ])
    const keep = started.then(([, , , script]) => {
      this.#script = script
    })
    await inTime(keep)
  }

  /** Requests a new snapshot of the page. */
  async snapshot(): Promise<void> {
    await inTime(this.#run('globalThis.recorder?.snapshot()'))
  }

  /** Ends after the page has sent its pending events. Never rejects. */
  async finish(): Promise<void> {
    const { cdp } = this.tab
    const identifier = this.#script
    const ends = [
      this.#run('globalThis.recorder?.finish()'),
      identifier && cdp.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }),
      cdp.send('Runtime.removeBinding', { name: binding }),
      cdp.send('Runtime.disable'),
    ]
    await inTime(Promise.all(ends)).catch(() => {})
    cdp.off('Runtime.bindingCalled', this.#receive)
  }

  readonly #receive = ({ name, payload }: { name: string; payload: string }) => {
    if (name !== binding) return
    const [isFirst, isLast] = payload
    this.#begun = `${isFirst === '1' ? '' : this.#begun}${payload.slice(2)}`
    if (isLast !== '1') return
    this.#send(this.#begun)
    this.#begun = ''
  }

  async #run(text: string): Promise<void> {
    const identifier = await addScript(this.tab.cdp, text)
    await this.tab.cdp.send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
  }
}

async function addScript(cdp: CDPSession, text: string): Promise<string> {
  const script = { source: text, worldName, runImmediately: true }
  return (await cdp.send('Page.addScriptToEvaluateOnNewDocument', script)).identifier
}

async function inTime(work: Promise<unknown>): Promise<void> {
  const late = delay(answersWithinMs, undefined, { ref: false }).then(() => {
    throw new Error(`The page did not answer within ${answersWithinMs} ms.`)
  })
  late.catch(() => {})
  work.catch(() => {})
  await Promise.race([work, late])
}
