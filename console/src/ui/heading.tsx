import type { ReactNode } from 'react'

interface HeadingProps {
  /** Absent if the name of the view is enough. */
  title?: ReactNode
  /** A state, a count or a sentence beside the title. */
  detail?: ReactNode
  /** Buttons, at the end. */
  children?: ReactNode
}

/** The line above a record or a part of a view; the view's own name is in the bar. */
export function Heading({ title, detail, children }: HeadingProps) {
  return (
    <div className="heading">
      {title !== undefined && <h2>{title}</h2>}
      {detail !== undefined && <div className="detail">{detail}</div>}
      {children && <div className="actions">{children}</div>}
    </div>
  )
}
