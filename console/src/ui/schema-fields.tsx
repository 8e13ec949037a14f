import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { CheckField, SelectField, TextField } from './field.tsx'
import {
  type Draft,
  type DraftValue,
  type JsonSchema,
  kindOf,
  type TimeUnit,
  textOf,
  timeUnits,
} from './schema.ts'

interface Problem {
  /** Path of the field, with dots. */
  field?: string | undefined
  message: string
}

interface SchemaFieldsProps {
  schema: JsonSchema
  draft: Draft
  onChange(draft: Draft): void
  problem?: Problem | undefined
}

/** The fields of an object schema. */
export function SchemaFields({ schema, draft, onChange, problem }: SchemaFieldsProps) {
  const { properties = {}, required = [] } = schema
  return Object.entries(properties).map(([name, property]) => (
    <SchemaField
      key={name}
      name={name}
      schema={property}
      isRequired={required.includes(name)}
      isMarked={required.length > 0}
      value={draft[name] ?? ''}
      problem={problem?.field?.split(/[./]/)[0] === name ? problem : undefined}
      onChange={value => onChange({ ...draft, [name]: value })}
    />
  ))
}

interface SchemaFieldProps {
  name: string
  schema: JsonSchema
  isRequired: boolean
  /** True to mark optional fields; false where all are optional. */
  isMarked: boolean
  value: DraftValue
  problem: Problem | undefined
  onChange(value: DraftValue): void
}

function SchemaField(props: SchemaFieldProps) {
  const { name, schema, isRequired, isMarked, value, problem, onChange } = props
  const t = useText(frameText)
  const kind = kindOf(schema)
  const label = schema.title ?? name
  if (kind === 'check')
    return <CheckField label={label} hint={schema.description} value={value === true} onChange={onChange} />
  if (kind === 'object') return <ObjectField {...props} value={draftIn(value) ?? {}} />
  if (kind === 'duration') return <DurationField {...props} value={draftIn(value) ?? noDuration} />
  const text = typeof value === 'string' ? value : ''
  const field = { label, isOptional: isMarked && !isRequired, error: problem?.message, value: text, onChange }
  if (kind === 'choice') {
    const choices = (schema.enum ?? []).map((one, at) => ({
      value: textOf(one),
      label: schema.enumTitles?.[at] ?? textOf(one),
    }))
    const none = isRequired && text !== '' ? [] : [{ value: '', label: '–' }]
    return <SelectField {...field} hint={schema.description} choices={[...none, ...choices]} />
  }
  return (
    <TextField
      {...field}
      hint={schema.description ?? (kind === 'lines' ? t.perLine : undefined)}
      type={typeOfInput(schema)}
      isLong={kind === 'long' || kind === 'lines' || kind === 'json'}
      isCode={kind === 'json' || schema.format === 'code'}
      isRequired={isRequired}
      placeholder={schema.examples?.[0] === undefined ? undefined : textOf(schema.examples[0])}
      limits={limitsOf(schema)}
    />
  )
}

const draftIn = (value: DraftValue) => (typeof value === 'object' ? value : undefined)

function ObjectField({ name, schema, value, problem, onChange }: SchemaFieldProps & { value: Draft }) {
  const rest = problem && { ...problem, field: problem.field?.split(/[./]/).slice(1).join('.') }
  return (
    <fieldset className="fields">
      <legend>{schema.title ?? name}</legend>
      <SchemaFields schema={schema} draft={value} onChange={onChange} problem={rest} />
    </fieldset>
  )
}

const noDuration: Draft = { amount: '', unit: 'hour' }

/** A field for an amount and its unit. */
function DurationField({ name, schema, value, problem, onChange }: SchemaFieldProps & { value: Draft }) {
  const t = useText(frameText)
  const { amount = '', unit = 'hour' } = value
  return (
    <fieldset className="fields duration">
      <legend>{schema.title ?? name}</legend>
      <TextField
        label={t.amount}
        type="number"
        limits={{ min: 0, step: 'any' }}
        hint={schema.description}
        error={problem?.message}
        value={String(amount)}
        onChange={next => onChange({ amount: next, unit })}
      />
      <SelectField
        label={t.unit}
        choices={Object.keys(timeUnits).map(one => ({ value: one, label: t.units[one as TimeUnit] }))}
        value={String(unit)}
        onChange={next => onChange({ amount, unit: next })}
      />
    </fieldset>
  )
}

const inputTypes = { email: 'email', uri: 'url', date: 'date', time: 'time', password: 'password' } as const

function typeOfInput(schema: JsonSchema) {
  if (schema.writeOnly) return 'password'
  if (kindOf(schema) === 'number') return 'number'
  return inputTypes[schema.format as keyof typeof inputTypes] ?? 'text'
}

function limitsOf({ maxLength, pattern, minimum, maximum, type }: JsonSchema) {
  return {
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
    ...(minimum !== undefined && { min: minimum }),
    ...(maximum !== undefined && { max: maximum }),
    ...(type === 'number' && { step: 'any' as const }),
  }
}
