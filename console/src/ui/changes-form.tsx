import { useState } from 'react'
import { useChange } from '#console/api/query.ts'
import type { ApiRequest } from '#console/api/request.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { changedValues, durationOf, type JsonSchema, textOf, type Values } from './schema.ts'
import { SchemaForm } from './schema-form.tsx'
import { Facts } from './section.tsx'
import { toast } from './toast.tsx'

interface ChangesFormProps {
  schema: JsonSchema
  /** The current values of the resource. */
  values: Values
  /** Returns the request for the changed fields; a cleared field is null. */
  requestOf(changes: Values): ApiRequest
  /** Paths whose queries show the resource. */
  changes: readonly string[]
  /** True if the values are only shown. */
  isReadOnly: boolean
}

/** A form that sends only the fields that a person changed: other people's changes stay. */
export function ChangesForm({ schema, values, requestOf, changes, isReadOnly }: ChangesFormProps) {
  const t = useText(frameText)
  const [shown, setShown] = useState(values)
  const save = useChange(requestOf, { changes, onDone: () => toast(t.saved) })
  if (isReadOnly) return <Facts rows={factsOf(schema, values, t)} />
  return (
    <SchemaForm
      schema={schema}
      initial={shown}
      submit={t.save}
      request={now => requestOf(changedValues(schema, shown, now))}
      onSubmit={async now => {
        await save.mutateAsync(changedValues(schema, shown, now))
        setShown(now)
      }}
    />
  )
}

type Words = ReturnType<typeof frameText.current>

function factsOf({ properties = {} }: JsonSchema, values: Values, t: Words) {
  const shown = Object.entries(properties).filter(([, { writeOnly }]) => !writeOnly)
  return shown.map(([name, property]) => ({
    name: property.title ?? name,
    value: wordOf(property, values[name] ?? property.default, t),
  }))
}

function wordOf(schema: JsonSchema, value: unknown, t: Words): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value ? t.yes : t.no
  if (schema.format === 'duration') {
    const { amount, unit } = durationOf(Number(value))
    return `${amount} ${t.units[unit]}`
  }
  return schema.enumTitles?.[schema.enum?.indexOf(value) ?? -1] ?? textOf(value)
}
