import type { ReactNode } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'

interface EmptyProps {
  title: string
  text?: ReactNode
  /** The first action. */
  children?: ReactNode
}

/** A place without content, which offers the first action. */
export function Empty({ title, text, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children && <div className="actions">{children}</div>}
    </div>
  )
}

/** An error, shown in place of the content that could not be loaded. */
export function Problem({ error, onRetry }: { error: Error; onRetry?(): void }) {
  const t = useText(frameText)
  return (
    <div role="alert">
      <Empty title={t.failed} text={error.message}>
        {onRetry && <Button onClick={onRetry}>{t.retry}</Button>}
      </Empty>
    </div>
  )
}
