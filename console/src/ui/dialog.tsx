import { type ReactNode, type RefObject, useEffect, useId, useRef } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'

interface DialogProps {
  title: string
  onClose(): void
  /** Buttons at the foot. */
  actions?: ReactNode
  /** True for a dialog that is wider than a form. */
  isWide?: boolean
  children: ReactNode
}

/** A dialog above the view: it takes the focus, closes by Escape and restores the focus. */
export function Dialog({ title, onClose, actions, isWide = false, children }: DialogProps) {
  const t = useText(frameText)
  const id = useId()
  const dialog = useModal(onClose)
  return (
    <dialog ref={dialog} className={`dialog${isWide ? ' wide' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" icon="close" label={t.close} onClick={onClose} />
      </header>
      {children}
      {actions && <footer className="actions">{actions}</footer>}
    </dialog>
  )
}

const buttons = '.actions button'
/** Elements that get the focus first: a field, else the first button at the foot. */
const fields = `input, select, textarea, :not(:has(input, select, textarea)) > ${buttons}`

/** Opens a `<dialog>` while it is rendered, and reports when the person closes it, also by a click on the backdrop. */
export function useModal(onClose: () => void): RefObject<HTMLDialogElement | null> {
  const ref = useRef<HTMLDialogElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const dialog = ref.current
    if (dialog === null) return
    dialog.showModal()
    // On touch, a focused field opens a keyboard over the dialog.
    const first = dialog.querySelector<HTMLElement>(
      matchMedia('(pointer: coarse)').matches ? buttons : fields,
    )
    first?.focus()
    const cancel = (event: Event) => {
      event.preventDefault()
      close.current()
    }
    const press = (event: MouseEvent) => {
      if (event.target === dialog && isOutside(dialog, event)) close.current()
    }
    // A second Escape closes the element, whatever `cancel` prevented.
    const report = () => close.current()
    dialog.addEventListener('cancel', cancel)
    dialog.addEventListener('close', report)
    dialog.addEventListener('pointerdown', press)
    return () => {
      dialog.removeEventListener('cancel', cancel)
      dialog.removeEventListener('close', report)
      dialog.removeEventListener('pointerdown', press)
      dialog.close()
    }
  }, [])
  return ref
}

function isOutside(dialog: HTMLElement, { clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect()
  return clientX < left || clientX > right || clientY < top || clientY > bottom
}
