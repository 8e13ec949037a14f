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

const hide = (id: number) => toasts.set(toasts.get().filter(toast => toast.id !== id))

/** Shows for some seconds that an action succeeded. */
export function toast(text: string): void {
  const id = show({ text })
  setTimeout(() => hide(id), shownMs)
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
    clearTimeout(timer)
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
  const timer = setTimeout(commit, undoMs)
  waiting.add(commit)
}

/** Shows all toasts; the frame renders it once. */
export function ToastHost() {
  const t = useText(frameText)
  const shown = useStore(toasts)
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, isError, undo }) => (
        <div key={id} className={`toast${isError ? ' bad' : ''}`}>
          <span>{text}</span>
          {undo && (
            <Button kind="quiet" onClick={undo}>
              {t.undo}
            </Button>
          )}
          <Button kind="quiet" icon="close" label={t.close} onClick={() => hide(id)} />
        </div>
      ))}
    </div>
  )
}
