import type { ReactNode } from 'react'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

/** A state as a word and a dot, never colour alone. */
export function Status({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}
