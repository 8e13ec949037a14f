import { useQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { onReconnect } from '#console/api/connection.ts'
import { Unreachable } from '#console/api/errors.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { LinkButton } from '#console/ui/button.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { signInAddress } from './sign-in.ts'
import { useTitle } from './title.ts'
import type { View } from './view.ts'

export function NotFound() {
  const t = useText(frameText)
  return (
    <Empty title={t.notFound}>
      <LinkButton to="/">{t.home}</LinkButton>
    </Empty>
  )
}

export function NoAgent() {
  const t = useText(frameText)
  const caller = useQuery(callerQuery).data
  return (
    <main id="main">
      <Empty title={t.notFound} text={t.noAgent}>
        <LinkButton to="/">{t.home}</LinkButton>
        {caller?.user === null && (
          <a className="btn primary" href={signInAddress()}>
            {t.signIn}
          </a>
        )}
      </Empty>
    </main>
  )
}

export function NeedsRole({ view }: { view: View }) {
  const t = useText(frameText)
  const title = useTitle(view.title)
  return view.needs === 'any' ? null : <Empty title={title} text={t.needs[view.needs]} />
}

/** The replacement of a view that failed; it retries once the server is reachable. */
export function ViewProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const retry = () => {
    reset()
    void router.invalidate()
  }
  useEffect(() => {
    if (error instanceof Unreachable) onReconnect(() => void router.invalidate())
  }, [error, router])
  return <Problem error={error instanceof Error ? error : new Error(String(error))} onRetry={retry} />
}
