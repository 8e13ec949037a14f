import { createStore, useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'

interface Toast {
  id: number
  text: string
  isError?: boolean
  undo?(): void
}

const shownMs = 5000
/** Time in which a change can be undone (ms). */
const undoMs = 10_000
const toasts = createStore<readonly Toast[]>([])
let made = 0

function show(toast: Omit<Toast, 'id'>): number {
  made += 1
  toasts.set([...toasts.get(), { ...toast, id: made }])
  return made
}

function hide(id: number): void {
  timed.delete(id)
  toasts.set(toasts.get().filter(toast => toast.id !== id))
}

/** Notices that end by themselves, with the time that is left of each. */
const timed = new Map<number, { leftMs: number; end(id: number): void }>()
const tickMs = 250
let ticker: ReturnType<typeof setInterval> | undefined
let tickedAt = 0

/** Ends a notice after its time. The time stands still while the pointer or the focus is on the notices. */
function endAfter(id: number, leftMs: number, end: (id: number) => void): void {
  timed.set(id, { leftMs, end })
  if (ticker !== undefined) return
  tickedAt = performance.now()
  ticker = setInterval(tick, tickMs)
}

function tick(): void {
  const passedMs = performance.now() - tickedAt
  tickedAt += passedMs
  for (const [id, notice] of isHeld() ? [] : timed) {
    notice.leftMs -= passedMs
    if (notice.leftMs <= 0) notice.end(id)
  }
  if (timed.size > 0) return
  clearInterval(ticker)
  ticker = undefined
}

function isHeld(): boolean {
  // A tap leaves `:hover` behind.
  const canHover = matchMedia('(hover: hover)').matches
  return document.querySelector(`.toasts:is(:focus-within${canHover ? ', :hover' : ''})`) !== null
}

/** Shows for some seconds that an action succeeded. */
export function toast(text: string): void {
  endAfter(show({ text }), shownMs, hide)
}

/** Shows an error until the person closes it. */
export function toastError(error: unknown): void {
  show({ text: error instanceof Error ? error.message : String(error), isError: true })
}

const waiting = new Set<() => void>()
// A change that waits for "Undo" is sent when the page is left.
addEventListener('pagehide', () => {
  for (const send of waiting) send()
})

/** Shows "Undo" for ten seconds, then sends the change. Show it at once: `patchRows` returns `undo`. */
export function undoable(text: string, { undo, send }: { undo(): void; send(): Promise<unknown> }): void {
  const settle = () => {
    waiting.delete(commit)
    hide(id)
  }
  const commit = () => {
    settle()
    send().catch(error => {
      undo()
      toastError(error)
    })
  }
  const id = show({
    text,
    undo() {
      settle()
      undo()
    },
  })
  endAfter(id, undoMs, commit)
  waiting.add(commit)
}

/** Shows all toasts; the frame renders it once. */
export function ToastHost() {
  const t = useText(frameText)
  const shown = useStore(toasts)
  // Closing a notice ends its time, so that a change that could be undone is sent.
  const close = (id: number) => (timed.get(id)?.end ?? hide)(id)
  const row = ({ id, text, isError, undo }: Toast) => (
    <div key={id} className={`toast${isError ? ' bad' : ''}`} role={isError ? 'alert' : undefined}>
      <span>{text}</span>
      {undo && (
        <Button kind="quiet" onClick={undo}>
          {t.undo}
        </Button>
      )}
      <Button kind="quiet" icon="close" label={t.close} onClick={() => close(id)} />
    </div>
  )
  return (
    <div className="toasts">
      <div role="status">{shown.filter(({ isError }) => !isError).map(row)}</div>
      {shown.filter(({ isError }) => isError).map(row)}
    </div>
  )
}
