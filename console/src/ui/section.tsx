import { type ReactNode, useId } from 'react'

interface SectionProps {
  title: string
  /** A state beside the title. */
  detail?: ReactNode
  text?: ReactNode
  children?: ReactNode
}

/** A titled part of a page, on a card of a form's width. */
export function Section({ title, detail, text, children }: SectionProps) {
  const id = useId()
  return (
    <section className="card section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {detail}
      </header>
      {text !== undefined && <p className="lead">{text}</p>}
      {children}
    </section>
  )
}

/** Read-only values by name. Missing values are shown as a dash. */
export function Facts({ rows }: { rows: readonly { name: string; value: ReactNode }[] }) {
  return (
    <dl className="facts">
      {rows.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  )
}
