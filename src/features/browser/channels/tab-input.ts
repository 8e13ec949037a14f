import { setTimeout as delay } from 'node:timers/promises'
import type { CDPSession } from 'playwright-core'
import { type ClipboardUse, clipboardUseOf } from '../sessions/clipboard.ts'
import type { InputOf } from './input.schema.ts'
import { modifierOf, shortcutModifiers, textOf, virtualKeyOf } from './keyboard.ts'

/** The bits of pressed buttons in the DevTools protocol. */
const bits = { none: 0, left: 1, right: 2, middle: 4 } as const
type Button = keyof typeof bits

/** Max time (ms) and distance (CSS pixels) between the presses of a double click. */
const doubleClick = { ms: 500, distance: 5 } as const

/** The virtual key code of Insert. */
const insertKey = 45
/** Max time in which a responsive page takes a key (ms). */
const takenMs = 2000

interface Press {
  button: Button
  x: number
  y: number
  at: number
  count: number
}

/** The mouse and the keyboard of one tab, with their pressed buttons and keys. */
export class TabInput {
  readonly #cdp: CDPSession
  #buttons = 0
  #lastPress: Press | undefined
  /** The newest move, while the page handles the one before: a page takes one per frame. */
  #nextMove: InputOf<'mouseEvent'> | undefined
  #isMoving = false
  /** The bits of the modifiers that are down. */
  #held = 0
  /** The text of the last key, which some clients repeat as a character. */
  #written: string | undefined
  /** Resolves when the page has taken the last key, or text; never rejects. */
  written: Promise<unknown> = Promise.resolve()

  readonly #prepareClipboard: (use: ClipboardUse) => Promise<void>
  /** All input waits for this promise. */
  #gate: Promise<void> | undefined

  /** @param prepareClipboard called before keys that copy or paste */
  constructor(cdp: CDPSession, prepareClipboard: (use: ClipboardUse) => Promise<void>) {
    this.#cdp = cdp
    this.#prepareClipboard = prepareClipboard
  }

  mouse(input: InputOf<'mouseEvent'>): void {
    if (input.event === 'mouseMoved' && this.#isMoving) {
      this.#nextMove = input
      return
    }
    // A press happens at the place of the last move.
    if (input.event !== 'mouseMoved' && this.#nextMove !== undefined) void this.#dispatch(this.#nextMove)
    this.#nextMove = undefined
    if (input.event === 'mouseMoved') void this.#move(input)
    else void this.#dispatch(input)
  }

  key(input: InputOf<'keyEvent'>): void {
    const { event, key, code = '' } = input
    const modifiers = shortcutModifiers({ ...input, modifiers: this.#modifiersOf(input) })
    const text = event === 'keyUp' ? undefined : textOf({ ...input, modifiers })
    if (event === 'char') {
      const isWritten = this.#written !== undefined && this.#written === text
      this.#written = undefined
      if (!isWritten && text !== undefined) this.#send('Input.dispatchKeyEvent', { type: 'char', text })
      return
    }
    this.#written = text
    const virtualKey = virtualKeyOf(input)
    const pressed = virtualKey === insertKey ? 'insert' : String.fromCharCode(virtualKey)
    const use = modifiers === 0 || event === 'keyUp' ? undefined : clipboardUseOf(pressed)
    if (use !== undefined) this.hold(() => this.#prepareClipboard(use))
    this.#send('Input.dispatchKeyEvent', {
      type: event === 'keyUp' ? 'keyUp' : text === undefined ? 'rawKeyDown' : 'keyDown',
      key,
      code,
      modifiers,
      windowsVirtualKeyCode: virtualKey,
      nativeVirtualKeyCode: virtualKey,
      ...(text !== undefined && { text }),
    })
  }

  insert(text: string): void {
    this.#send('Input.insertText', { text })
  }

  /** Some clients report modifiers only by pressing their keys, not again with other keys. */
  #modifiersOf({ event, key, modifiers }: InputOf<'keyEvent'>): number {
    const bit = modifierOf(key)
    this.#held = modifiers ?? (event === 'keyUp' ? this.#held & ~bit : this.#held | bit)
    return this.#held
  }

  async #move(input: InputOf<'mouseEvent'>): Promise<void> {
    this.#isMoving = true
    await this.#dispatch(input)
    this.#isMoving = false
    const next = this.#nextMove
    this.#nextMove = undefined
    if (next !== undefined) void this.#move(next)
  }

  /** Resolves when the page has taken the input; never rejects. */
  async #dispatch(input: InputOf<'mouseEvent'>): Promise<void> {
    const { event, x, y, modifiers = 0, deltaX = 0, deltaY = 0 } = input
    const button = this.#buttonOf(input)
    const clickCount = event === 'mousePressed' ? this.#press(input, button) : this.#lastPress?.count
    if (event === 'mousePressed') this.#buttons |= bits[button]
    if (event === 'mouseReleased') this.#buttons &= ~bits[button]
    const isWheel = event === 'mouseWheel'
    const isClick = event === 'mousePressed' || event === 'mouseReleased'
    const where = { x, y, modifiers, button, buttons: this.#buttons }
    if (this.#gate !== undefined) await this.#gate
    await this.#cdp
      .send('Input.dispatchMouseEvent', {
        type: event,
        ...where,
        ...(isWheel && { deltaX, deltaY }),
        ...(isClick && { clickCount: clickCount ?? 1 }),
      })
      .catch(() => {})
  }

  /** Returns the effective button: a press defaults to the left one, and a move uses the pressed one. */
  #buttonOf({ event, button }: InputOf<'mouseEvent'>): Button {
    const held = (Object.keys(bits) as Button[]).find(name => (this.#buttons & bits[name]) !== 0) ?? 'none'
    if (event === 'mouseMoved') return held
    if (event === 'mouseWheel') return 'none'
    return button === undefined || button === 'none' ? 'left' : button
  }

  #press({ x, y, clickCount }: InputOf<'mouseEvent'>, button: Button): number {
    const last = this.#lastPress
    const at = performance.now()
    const isAgain =
      last?.button === button &&
      at - last.at < doubleClick.ms &&
      Math.hypot(x - last.x, y - last.y) <= doubleClick.distance
    const count = clickCount || (isAgain ? (last.count % 3) + 1 : 1)
    this.#lastPress = { button, x, y, at, count }
    return count
  }

  #send(...[method, parameters]: Parameters<CDPSession['send']>): void {
    const send = () => this.#cdp.send(method, parameters)
    this.written = (this.#gate?.then(send) ?? send()).catch(() => {})
  }

  /** Does the work after the waiting input, or at once if none waits. */
  inTurn(work: () => Promise<void>): void {
    if (this.#gate === undefined) void work()
    else this.hold(work)
  }

  /** Does the work once the page has taken all input before; later input waits for the work. */
  hold(work: () => Promise<void>): void {
    const taken = Promise.all([this.#gate, this.written])
    const gate = Promise.race([taken, delay(takenMs, undefined, { ref: false })]).then(work)
    const open = gate
      .catch(() => {})
      .then(() => {
        if (this.#gate === open) this.#gate = undefined
      })
    this.#gate = open
  }
}
