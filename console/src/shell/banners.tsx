import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { busyUntil, connection } from '#console/api/connection.ts'
import { useStore } from '#console/api/store.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from '#console/ui/button.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { useAgent } from './agent.tsx'

/** Messages for all views: the state of the server, and an agent that is open to all. */
export function Banners() {
  return (
    <div className="banners">
      <ServerState />
      <OpenToAll />
    </div>
  )
}

/** Shown while an agent is loading, after a short delay. */
export function Starting() {
  return (
    <main id="main">
      <ServerState />
    </main>
  )
}

/** A banner for no server, no user, or too many requests. */
function ServerState() {
  const t = useText(frameText)
  const state = useStore(connection)
  const until = useStore(busyUntil)
  return (
    <>
      <div role="status">
        {state === 'offline' && <Banner>{t.offline}</Banner>}
        {state === 'online' && until > 0 && (
          <Banner>{t.busy(Math.max(1, Math.ceil((until - Date.now()) / 1000)))}</Banner>
        )}
      </div>
      {state === 'signed-out' && (
        <Banner>
          {t.signedOut} <Button onClick={() => location.reload()}>{t.reload}</Button>
        </Banner>
      )}
    </>
  )
}

/** A warning that without a user, anyone who reaches the port can change `default`. */
function OpenToAll() {
  const t = useText(frameText)
  const agent = useAgent()
  const caller = useQuery(callerQuery).data
  if (agent.id !== 'default' || caller === undefined || caller.user !== null) return null
  const texts = { full: t.anyone, chat: t.anyoneChats, read: t.anyoneReads }
  return (
    <Banner>
      {texts[caller.public_access]} {t.howToProtect}
    </Banner>
  )
}

function Banner({ children }: { children: ReactNode }) {
  return (
    <div className="banner">
      <Icon name="warning" />
      <span>{children}</span>
    </div>
  )
}
