import type { ReactNode } from 'react'
import { Status, type Tone } from '#console/ui/status.tsx'

/** The result of the search for a passage. */
export function Finding({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div role="status" className="finding">
      <Status tone={tone}>{children}</Status>
    </div>
  )
}
