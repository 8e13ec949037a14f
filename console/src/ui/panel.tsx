import { type ReactNode, useEffect, useId, useRef } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { onKeys } from './keys.ts'

interface PanelProps {
  title: ReactNode
  onClose(): void
  children: ReactNode
}

/** Details at the right of a view, above it on narrow screens. Escape closes it and restores the focus. */
export function Panel({ title, onClose, children }: PanelProps) {
  const t = useText(frameText)
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const before = document.activeElement
    heading.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <section className="panel" aria-labelledby={id} onKeyDown={onKeys({ Escape: onClose })}>
      <header>
        <h2 id={id} ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <Button kind="quiet" icon="close" label={t.close} onClick={onClose} />
      </header>
      <div className="panel-body">{children}</div>
    </section>
  )
}
