/** Clients of the channels of browser sessions: those of the specification, and those of steel-browser. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

/** Milliseconds; far more than anything takes, since the machine may be busy. */
const waitMs = 60_000

export interface Tab {
  pageId: string
  id: string
  url: string
  title: string
  favicon: string | null
}

export interface TakeoverStatus {
  takeover_id: string
  reason: string
  expires_at: string
  hidden: boolean
  driver: string | null
  is_driver: boolean
}

/** Any message of the cast channel; a frame has no type. */
export interface CastMessage {
  type?: string
  pageId?: string
  url?: string
  title?: string
  favicon?: string | null
  /** A frame: JPEG in Base64. */
  data?: string
  tabs?: Tab[]
  firstTabId?: string
  text?: string
  kind?: string
  message?: string
  defaultValue?: string
  status?: string
  may_drive?: boolean
  takeover?: TakeoverStatus | null
}

/** `Message` is what the test takes what arrives for; nothing checks it. */
export interface Channel<Message = CastMessage> {
  socket: WebSocket
  /** Everything that has arrived so far. */
  all: readonly Message[]
  /** How and why it was closed. */
  closed: Promise<{ code: number; reason: string }>
  /** The first match behind the last one that this returned, whether it has arrived or is still to come. */
  next(matches: (message: Message) => boolean, what?: string): Promise<Message>
  /** An object as JSON, a text as it is. */
  send(message: object | string): void
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a channel of the service at an address such as `http://127.0.0.1:4000`. One that the service closes at once is
 * opened as well: `closed` tells the code. Rejects where the answer is no WebSocket.
 */
export async function openChannel<Message = CastMessage>(
  origin: string,
  path: string,
  { headers = {} }: { headers?: Record<string, string> } = {},
): Promise<Channel<Message>> {
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}${path}`, { headers })
  const all: Message[] = []
  let seen = 0
  socket.on('message', data => all.push(JSON.parse(String(data)) as Message))
  const closed = new Promise<{ code: number; reason: string }>(resolve =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  const signal = AbortSignal.timeout(waitMs)
  await once(socket, 'open', { signal })
  // What breaks an open connection shows in `closed`.
  socket.on('error', () => {})

  /** Undefined where none has arrived. */
  function take(matches: (message: Message) => boolean): Message | undefined {
    const at = all.findIndex((message, index) => index >= seen && matches(message))
    if (at < 0) return undefined
    seen = at + 1
    return all[at]
  }

  return {
    socket,
    all,
    closed,
    async next(matches, what = 'a message') {
      const waiting = AbortSignal.timeout(waitMs)
      for (;;) {
        const found = take(matches)
        if (found !== undefined) return found
        if (socket.readyState === WebSocket.CLOSED || waiting.aborted)
          throw new Error(`${what} did not come on ${path.split('?', 1)[0]}; there were ${brief(all)}`)
        await change(socket, waiting)
      }
    },
    send: message => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async [Symbol.asyncDispose]() {
      socket.close()
      await closed
    },
  }
}

/** Resolves with the next message, the end of the connection, or the end of the wait. */
async function change(socket: WebSocket, waiting: AbortSignal): Promise<void> {
  const either = new AbortController()
  const signal = AbortSignal.any([waiting, either.signal])
  const wait = (event: string) => once(socket, event, { signal }).catch(() => {})
  await Promise.race([wait('message'), wait('close')])
  either.abort()
}

/** The messages for people, without pictures. */
function brief(messages: readonly unknown[]): string {
  return JSON.stringify(messages.slice(-20), (_key, value) =>
    typeof value === 'string' && value.length > 100 ? `${value.slice(0, 100)}…` : value,
  )
}

export const modifier = { alt: 1, control: 2, meta: 4, shift: 8 } as const

type MouseEventName = 'mousePressed' | 'mouseReleased' | 'mouseMoved' | 'mouseWheel'
type Button = 'none' | 'left' | 'middle' | 'right'

interface MouseInput {
  event: MouseEventName
  x: number
  y: number
  button?: Button
  modifiers?: number
  clickCount?: number
  deltaX?: number
  deltaY?: number
}

interface KeyInput {
  event: 'keyDown' | 'keyUp' | 'char'
  key: string
  code: string
  modifiers?: number
  text?: string
}

export interface Point {
  x: number
  y: number
}

/** What a client of one kind sends for what a person does; every message names its tab where that is given. */
export interface InputShape {
  /** The address of the channel for one tab, or for the session as a whole. */
  address(sessionId: string, tab?: { pageId: string } | { tabInfo: true }): string
  mouse(input: MouseInput, pageId?: string): object
  /** Everything that is sent while the mouse moves along these points. */
  moves(points: readonly Point[], button?: Button, pageId?: string): object[]
  key(input: KeyInput, pageId?: string): object
  goto(url: string, pageId?: string): object
  history(action: 'back' | 'forward' | 'refresh', pageId?: string): object
}

const withTab = (pageId: string | undefined) => (pageId === undefined ? {} : { pageId })

/** Flat messages; keys are told by name alone. */
export const specificationShape: InputShape = {
  address: (sessionId, tab) => `/v1/sessions/cast?${new URLSearchParams({ sessionId, ...texts(tab) })}`,
  mouse: (input, pageId) => ({ type: 'mouseEvent', button: 'none', ...input, ...withTab(pageId) }),
  moves: (points, button = 'none', pageId) =>
    points.map(point => specificationShape.mouse({ event: 'mouseMoved', button, ...point }, pageId)),
  key: ({ event, key, code, modifiers = 0, text }, pageId) => {
    const typed = event === 'char' ? { text } : {}
    return { type: 'keyEvent', event, key, code, modifiers, ...typed, ...withTab(pageId) }
  },
  goto: (url, pageId) => ({ type: 'navigation', action: 'goto', url, ...withTab(pageId) }),
  history: (action, pageId) => ({ type: 'navigation', action, ...withTab(pageId) }),
}

/** Nested messages that name their tab, a second `?` in addresses, and every move twice: at once, and when the mouse rests. */
export const steelShape: InputShape = {
  address: (sessionId, tab) => {
    const asked = new URLSearchParams(texts(tab))
    const base = `/v1/sessions/cast?sessionId=${encodeURIComponent(sessionId)}`
    return tab === undefined ? base : `${base}?${asked}`
  },
  mouse: ({ event, button = 'none', modifiers = 0, ...rest }, pageId) => ({
    type: 'mouseEvent',
    ...withTab(pageId),
    event: { type: event, button, modifiers, ...rest },
  }),
  moves: (points, button = 'none', pageId) =>
    [...points, ...points.slice(-1)].map(point =>
      steelShape.mouse({ event: 'mouseMoved', button, ...point }, pageId),
    ),
  key: ({ event, key, code, modifiers = 0, text }, pageId) => ({
    type: 'keyEvent',
    ...withTab(pageId),
    event: { type: event, text: text ?? printable(key), code, key, keyCode: keyCodeOf(key), modifiers },
  }),
  goto: (url, pageId) => ({ type: 'navigation', ...withTab(pageId), event: { url } }),
  history: (action, pageId) => ({ type: 'navigation', ...withTab(pageId), event: { action } }),
}

function texts(tab: { pageId: string } | { tabInfo: true } | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(tab ?? {}).map(([name, value]) => [name, String(value)]))
}

const printable = (key: string) => ([...key].length === 1 ? key : undefined)

const keyCodes: Record<string, number> = {
  Backspace: 8,
  Tab: 9,
  Enter: 13,
  Shift: 16,
  Control: 17,
  Alt: 18,
  Escape: 27,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  Delete: 46,
}

/** As `KeyboardEvent.keyCode` has it for letters, digits and the keys above. */
function keyCodeOf(key: string): number {
  return keyCodes[key] ?? key.toUpperCase().charCodeAt(0)
}

/** Moves there and clicks with the left button; twice for a double click. */
export function clicks(shape: InputShape, point: Point, { pageId, count = 1 }: ClickOptions = {}): object[] {
  const press = (event: MouseEventName, clickCount: number) =>
    shape.mouse({ event, ...point, button: 'left', clickCount }, pageId)
  const each = Array.from({ length: count }, (_, index) => index + 1)
  return [
    ...shape.moves([point], 'none', pageId),
    ...each.flatMap(time => [press('mousePressed', time), press('mouseReleased', time)]),
  ]
}

interface ClickOptions {
  pageId?: string | undefined
  count?: number
}

/** Presses at the first point, moves along the others with the button held, and releases at the last. */
export function drags(shape: InputShape, points: readonly [Point, ...Point[]], pageId?: string): object[] {
  const last = points.at(-1) ?? points[0]
  const press = (event: MouseEventName, point: Point) =>
    shape.mouse({ event, ...point, button: 'left', clickCount: 1 }, pageId)
  return [
    ...shape.moves([points[0]], 'none', pageId),
    press('mousePressed', points[0]),
    ...shape.moves(points.slice(1), 'left', pageId),
    press('mouseReleased', last),
  ]
}

/** Presses and releases one key, with modifiers held. */
export function presses(shape: InputShape, key: string, modifiers = 0, pageId?: string): object[] {
  const code = codeOf(key)
  return [
    shape.key({ event: 'keyDown', key, code, modifiers }, pageId),
    shape.key({ event: 'keyUp', key, code, modifiers }, pageId),
  ]
}

/** Types the text key by key. */
export function types(shape: InputShape, text: string, pageId?: string): object[] {
  return [...text].flatMap(character =>
    presses(shape, character, /[A-Z]/.test(character) ? modifier.shift : 0, pageId),
  )
}

/** As `KeyboardEvent.code` has it; empty for what is on no key of its own. */
function codeOf(key: string): string {
  if (/^[a-z]$/i.test(key)) return `Key${key.toUpperCase()}`
  if (/^\d$/.test(key)) return `Digit${key}`
  if (key === ' ') return 'Space'
  return [...key].length === 1 ? '' : key
}
