import type { ReactNode } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { CopyLine } from './code.tsx'
import { Dialog } from './dialog.tsx'

interface ShownOnceProps {
  title: string
  /** Explains the secret's use, and that it is not shown again. */
  text: ReactNode
  secret: string
  onClose(): void
}

/** A secret that no later response contains: it is gone when the dialog is closed. */
export function ShownOnce({ title, text, secret, onClose }: ShownOnceProps) {
  const t = useText(frameText)
  return (
    <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>{t.done}</Button>}>
      <p>{text}</p>
      <CopyLine text={secret} label={title} />
    </Dialog>
  )
}
