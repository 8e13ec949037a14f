import { Link } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Looks {
  kind?: 'plain' | 'primary' | 'quiet' | 'danger'
  icon?: IconName
  /** The label of a button that shows only its icon. */
  label?: string
  children?: ReactNode
}

export type ButtonProps = Looks & Omit<ComponentProps<'button'>, 'aria-label'>

function classOf({ kind = 'plain', children, label }: Looks, more = ''): string {
  const isIcon = children === undefined && label !== undefined
  return `btn ${kind}${isIcon ? ' icon-only' : ''} ${more}`.trim()
}

/** A button with a verb. With `label` and without children it shows only its icon. */
export function Button({ kind, icon, label, className, children, type = 'button', ...rest }: ButtonProps) {
  const looks = { kind, label, children } as Looks
  return (
    <button {...rest} type={type} className={classOf(looks, className)} aria-label={label} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}

interface LinkTarget {
  to: string
  search?: Readonly<Record<string, string | number>>
}

/** A link to another view that looks like a button. */
export function LinkButton({ to, search = {}, kind, icon, label, children }: Looks & LinkTarget) {
  return (
    <Link
      to={to}
      search={search}
      className={classOf({ kind, label, children } as Looks)}
      aria-label={label}
      title={label}
    >
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  )
}
