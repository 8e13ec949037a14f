import { setTimeout as delay } from 'node:timers/promises'
import { read } from '../in-page/read.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { BrowserSession, Tab } from '../sessions/browser-session.ts'
import { type ClipboardUse, prepareClipboard } from '../sessions/clipboard.ts'
import { isOpenable } from '../sessions/openable-address.ts'
import { offerField } from '../takeovers/pickers.ts'
import type { Input, InputOf } from './input.schema.ts'
import { modifierOf, textOf } from './keyboard.ts'
import { inputToPicker } from './picker-input.ts'
import { TabInput } from './tab-input.ts'

/** Max tabs that a person can have open. */
const maxTabs = 30
/** Max characters of a selection. */
const maxSelection = 100_000
/** Max time in which a responsive page reports its selection (ms). */
const selectionMs = 2000

const tabInputs = new WeakMap<Tab, TabInput>()

function inputOf(session: BrowserSession, tab: Tab): TabInput {
  const prepare = (use: ClipboardUse) => prepareClipboard(session, tab.page, use)
  const input = tabInputs.get(tab) ?? new TabInput(tab.cdp, prepare)
  tabInputs.set(tab, input)
  return input
}

/** A person's input to the pages of a session, without a takeover's own messages. */
export type PageInput = Exclude<
  Input,
  { type: 'hide' | 'extend' | 'handBack' | 'dialogAnswer' | 'pick' | 'pickFile' | 'getSelectedText' }
>

/** Performs the input without waiting for the page. Returns false for impossible input. */
export function performInput(session: BrowserSession, tab: Tab | undefined, input: PageInput): boolean {
  session.touch()
  if (input.type === 'newTab') return openTab(session, input.url)
  if (tab === undefined) return false
  const { takeover } = session
  if (takeover !== undefined && (input.type === 'mouseEvent' || input.type === 'keyEvent')) {
    const open = (point?: { x: number; y: number }) =>
      inputOf(session, tab).hold(() => offerField(takeover, tab, point))
    if (inputToPicker(takeover, tab, input, open)) return true
  }
  const isHidden = takeover?.isHidden === true
  if (isHidden) keepTyped(session.typed, input)
  // Typed text becomes known before it is sent anywhere, such as in an address.
  const readSecrets = async () => {
    const reading = isHidden ? session.typed.read(tab.page, true) : undefined
    await Promise.all([session.secrets.read(tab.page), reading])
  }
  if (maySubmit(input)) inputOf(session, tab).inTurn(readSecrets)
  switch (input.type) {
    case 'mouseEvent':
      inputOf(session, tab).mouse(input)
      return true
    case 'keyEvent':
      inputOf(session, tab).key(input)
      return true
    case 'insertText':
      inputOf(session, tab).insert(input.text)
      return true
    case 'navigation':
      return navigate(tab, input)
    case 'activateTab':
      session.activate(tab)
      return true
    case 'closeTab':
      // At least one tab stays open, so that there is something to see.
      tab.page
        .close()
        .then(() => session.page(), noted)
        .catch(noted)
      return true
  }
}

/** Hides text that only the driver may see, in any field. */
function keepTyped(typed: Secrets, input: PageInput): void {
  if (input.type === 'insertText') typed.type(input.text)
  else if (input.type === 'keyEvent' && input.event === 'keyDown') {
    const text = textOf({ ...input, modifiers: input.modifiers ?? 0 })
    const isText = text !== undefined && !/[\r\n\t]/.test(text)
    if (isText || input.key === 'Backspace') typed.type(isText ? text : undefined)
    else if (modifierOf(input.key) === 0) typed.endTyping()
  } else if (maySubmit(input) || input.type === 'activateTab') typed.endTyping()
}

function maySubmit(input: PageInput): boolean {
  if (input.type === 'keyEvent') return input.event === 'keyDown' && input.key === 'Enter'
  return input.type === 'mouseEvent' && input.event === 'mousePressed'
}

function openTab(session: BrowserSession, url: string | undefined): boolean {
  const address = url === undefined ? 'about:blank' : addressOf(url)
  if (address === undefined || session.tabs.length >= maxTabs) return false
  session
    .openTab()
    .then(({ page }) => page.goto(address), noted)
    .catch(noted)
  return true
}

function navigate({ page }: Tab, { action, url = '' }: InputOf<'navigation'>): boolean {
  const address = action === 'goto' ? addressOf(url) : ''
  if (address === undefined) return false
  const ways = {
    goto: () => page.goto(address),
    back: () => page.goBack(),
    forward: () => page.goForward(),
    refresh: () => page.reload(),
  }
  // The browser shows an unreachable page's error itself.
  ways[action]().catch(noted)
  return true
}

/** Completes an address as people write it; undefined for one that may not be opened. */
function addressOf(text: string): string | undefined {
  const address = /^[a-z][a-z\d+.-]*:(?!\d+(?:\/|$))/i.test(text) ? text : `https://${text.trim()}`
  return isOpenable(address) ? address : undefined
}

/** Returns the selected text of the page or its field, after all keys; empty without an answer. */
export async function selectedText(session: BrowserSession, tab: Tab): Promise<string> {
  const late = delay(selectionMs, undefined, { ref: false })
  await Promise.race([inputOf(session, tab).written, late])
  return await read(tab.page, 'selection', maxSelection, selectionMs).catch(() => '')
}

function noted(): void {}
