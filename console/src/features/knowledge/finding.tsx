import type { ReactNode } from 'react'
import type { Tone } from '#console/ui/status.tsx'
import { Status } from '#console/ui/status.tsx'

/** Says whether the passage was found. */
export function Finding({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div role="status" className="finding">
      <Status tone={tone}>{children}</Status>
    </div>
  )
}
