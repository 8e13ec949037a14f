import { type ReactNode, useId } from 'react'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
  isOptional?: boolean
}

interface Control {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

/** A label, a control with its hint, and the problem of its value. */
export function Field({
  label,
  hint,
  error,
  isOptional = false,
  children,
}: FieldProps & { children(control: Control): ReactNode }) {
  const t = useText(frameText)
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean)
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} {isOptional && <span className="hint">{t.optional}</span>}
      </label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

interface TextFieldProps extends FieldProps {
  value: string
  onChange(value: string): void
  type?: 'text' | 'password' | 'number' | 'email' | 'url' | 'date' | 'time' | 'datetime-local' | 'search'
  isLong?: boolean
  isCode?: boolean
  isRequired?: boolean
  placeholder?: string | undefined
  limits?: { maxLength?: number; pattern?: string; min?: number; max?: number; step?: number | 'any' }
}

export function TextField(props: TextFieldProps) {
  const { value, onChange, type = 'text', isLong = false, isCode = false, isRequired, placeholder } = props
  const common = { required: isRequired, placeholder, value, className: `input${isCode ? ' mono' : ''}` }
  const { maxLength, ...rest } = props.limits ?? {}
  return (
    <Field {...props}>
      {control =>
        isLong ? (
          <textarea
            {...control}
            {...common}
            maxLength={maxLength}
            spellCheck={!isCode}
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...control}
            {...common}
            {...rest}
            maxLength={maxLength}
            type={type}
            autoComplete={type === 'password' ? 'new-password' : 'off'}
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </Field>
  )
}

interface SelectFieldProps extends FieldProps {
  value: string
  onChange(value: string): void
  choices: readonly { value: string; label: string }[]
}

export function SelectField({ value, onChange, choices, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      {control => (
        <select
          {...control}
          className="input"
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          {choices.map(choice => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckFieldProps {
  label: string
  hint?: ReactNode
  value: boolean
  onChange(value: boolean): void
  /** True for a switch, whose change takes effect at once. */
  isSwitch?: boolean
  /** True if only screen readers get the label because its place explains the control. */
  isLabelHidden?: boolean
  isDisabled?: boolean
}

export function CheckField(props: CheckFieldProps) {
  const { label, hint, value, onChange, isSwitch = false, isLabelHidden = false, isDisabled } = props
  const id = useId()
  return (
    <label className="check">
      <input
        type="checkbox"
        role={isSwitch ? 'switch' : undefined}
        checked={value}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : id}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span className={isLabelHidden ? 'sr' : undefined}>{label}</span>
      {hint !== undefined && (
        <span className="hint" id={id}>
          {hint}
        </span>
      )}
    </label>
  )
}
