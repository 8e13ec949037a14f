import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { callerQuery } from '#console/api/caller.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from '#console/ui/button.tsx'
import { useModal } from '#console/ui/dialog.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { toastError } from '#console/ui/toast.tsx'
import { useAgent } from './agent.tsx'
import { AgentSwitch } from './agent-switch.tsx'
import { isFor, railGroups } from './feature.ts'
import { signInAddress, signOut } from './sign-in.ts'
import { useTitle } from './title.ts'
import type { View } from './view.ts'

export function Rail() {
  const t = useText(frameText)
  return (
    <aside className="rail" aria-label={t.menu}>
      <RailContent />
    </aside>
  )
}

/** The rail on narrow screens, above the view. Its button, Escape, the backdrop or a navigation close it. */
export function Drawer({ onClose }: { onClose(): void }) {
  const t = useText(frameText)
  const dialog = useModal(onClose)
  const { pathname } = useLocation()
  const opened = useRef(pathname)
  useEffect(() => {
    if (opened.current !== pathname) onClose()
  }, [pathname, onClose])
  return (
    <dialog ref={dialog} className="drawer" aria-label={t.menu}>
      <Button kind="quiet" icon="close" label={t.close} onClick={onClose} />
      <RailContent />
    </dialog>
  )
}

function RailContent() {
  const t = useText(frameText)
  const agent = useAgent()
  return (
    <>
      <Link to="/" className="brand">
        <img src="/icon.svg" alt="" width={22} height={22} />
        agentstead
      </Link>
      <AgentSwitch />
      <nav aria-label={t.views}>
        {railGroups.map(({ group, views }) => {
          const shown = views.filter(view => isFor(agent, view))
          if (shown.length === 0) return null
          return (
            <section key={group} aria-label={t.groups[group]}>
              <p className="group">{t.groups[group]}</p>
              <ul>
                {shown.map(view => (
                  <li key={view.path}>
                    <RailLink view={view} rail={view.rail} />
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
      </nav>
      <Who />
    </>
  )
}

/** The caller, with the link to sign in or out. */
function Who() {
  const t = useText(frameText)
  const { home } = useAgent()
  const caller = useQuery(callerQuery).data
  if (caller === undefined) return null
  return (
    <div className="who">
      {caller.user ? <Link to={`${home}/account`}>{caller.user.email}</Link> : t.notSignedIn}
      {caller.via === null && <a href={signInAddress()}>{t.signIn}</a>}
      {caller.via === 'session' && (
        <button type="button" className="link" onClick={() => void signOut().catch(toastError)}>
          {t.signOut}
        </button>
      )}
    </div>
  )
}

function RailLink({ view, rail }: { view: View; rail: NonNullable<View['rail']> }) {
  const agent = useAgent()
  const title = useTitle(view.title)
  return (
    <Link to={`${agent.home}/${view.path}`} className="rail-link">
      <Icon name={rail.icon} />
      {title}
      {rail.useCount && <Count useCount={rail.useCount} />}
    </Link>
  )
}

function Count({ useCount }: Required<Pick<NonNullable<View['rail']>, 'useCount'>>) {
  const count = useCount(useAgent())
  return count === undefined || count === 0 ? null : <span className="count num">{count}</span>
}
