import { useState } from 'react'
import { createStore, useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { TextField } from './field.tsx'

interface Question {
  title: string
  text?: string
  /** The verb of the button. */
  action: string
  isDangerous?: boolean
  /** A name that must be typed first, for actions that cannot be undone. */
  typed?: string
}

const open = createStore<{ question: Question; answer(isYes: boolean): void } | undefined>(undefined)

/** Asks a question and resolves to true on consent: `if (await confirm({ title, action })) …`. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise(resolve => {
    open.set({
      question,
      answer(isYes) {
        open.set(undefined)
        resolve(isYes)
      },
    })
  })
}

/** Shows the question of `confirm`; the frame renders it once. */
export function ConfirmHost() {
  const current = useStore(open)
  return current === undefined ? null : <Confirmation key={current.question.title} {...current} />
}

function Confirmation({ question, answer }: { question: Question; answer(isYes: boolean): void }) {
  const t = useText(frameText)
  const [typed, setTyped] = useState('')
  const isReady = question.typed === undefined || typed === question.typed
  return (
    <Dialog
      title={question.title}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>{t.cancel}</Button>
          <Button
            kind={question.isDangerous ? 'danger' : 'primary'}
            disabled={!isReady}
            onClick={() => answer(true)}
          >
            {question.action}
          </Button>
        </>
      }
    >
      {question.text && <p>{question.text}</p>}
      {question.typed !== undefined && (
        <TextField label={t.typeToConfirm(question.typed)} value={typed} onChange={setTyped} />
      )}
    </Dialog>
  )
}
