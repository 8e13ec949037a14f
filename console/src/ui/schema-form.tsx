import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError } from '#console/api/errors.ts'
import type { ApiRequest } from '#console/api/request.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { CopyCurl } from './code.tsx'
import { onKeys } from './keys.ts'
import { initialValues, type JsonSchema, readValues, type Values, withoutSecrets } from './schema.ts'
import { SchemaFields } from './schema-fields.tsx'

interface SchemaFormProps {
  /** An object schema; `title` and `description` of each property are its label and hint. */
  schema: JsonSchema
  initial?: Values
  /** The verb of the button. */
  submit: string
  /** Returns the form's request, which the form shows as a command; `onSubmit` sends it. */
  request?(values: Values): ApiRequest
  /** Sends the values; an error is shown at its field, or above the button. */
  onSubmit(values: Values): Promise<unknown>
  onCancel?(): void
  /** Content between the fields and the buttons. */
  children?: ReactNode
}

/** A form made from a JSON Schema. Ctrl Enter sends it. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, initial, submit, request, onSubmit, onCancel, children } = props
  const t = useText(frameText)
  const [draft, setDraft] = useState(() => initialValues(schema, initial))
  const [problem, setProblem] = useState<{ field?: string | undefined; message: string }>()
  const [isSending, setSending] = useState(false)
  const read = readValues(schema, draft)

  async function send(event?: FormEvent) {
    event?.preventDefault()
    // Ctrl Enter works even while the button is disabled.
    if (isSending) return
    if ('field' in read) return setProblem({ field: read.field, message: t.notJson })
    setSending(true)
    setProblem(undefined)
    try {
      await onSubmit(read.values)
      setDraft(now => withoutSecrets(schema, now))
    } catch (error) {
      const field = error instanceof ApiError ? error.field : undefined
      setProblem({ field, message: error instanceof Error ? error.message : String(error) })
    } finally {
      setSending(false)
    }
  }

  const isOfField =
    problem?.field !== undefined && (problem.field.split(/[./]/)[0] ?? '') in (schema.properties ?? {})
  return (
    <form
      className="form"
      onSubmit={event => void send(event)}
      onKeyDown={onKeys({ 'Control+Enter': ({ currentTarget }) => currentTarget.requestSubmit() })}
    >
      <SchemaFields
        schema={schema}
        draft={draft}
        onChange={setDraft}
        problem={isOfField ? problem : undefined}
      />
      {children}
      {problem && !isOfField && (
        <p className="error" role="alert">
          {problem.message}
        </p>
      )}
      <footer className="actions">
        {request && 'values' in read && <CopyCurl request={() => request(read.values)} />}
        {onCancel && <Button onClick={onCancel}>{t.cancel}</Button>}
        <Button type="submit" kind="primary" disabled={isSending} aria-keyshortcuts="Control+Enter">
          {submit}
        </Button>
      </footer>
    </form>
  )
}
