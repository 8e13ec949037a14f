import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { callerQuery } from '#console/api/caller.ts'
import { useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { signInAddress, signOut } from '#console/shell/sign-in.ts'
import type { ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import { Status } from '#console/ui/status.tsx'
import { Tabs } from '#console/ui/tabs.tsx'
import { Time } from '#console/ui/time.tsx'
import { toastError } from '#console/ui/toast.tsx'
import type { accountSearch } from './feature.ts'
import { Keys } from './keys.tsx'
import { endSession, endSessions, listSessions, type Session, sessions } from './requests.ts'
import { text } from './text.ts'
import './access.css'

/** The caller's own keys and sessions. */
export default function Account({
  search: { tab: chosen = 'keys' },
}: ViewProps<never, typeof accountSearch>) {
  const t = useText(text)
  const navigate = useNavigate()
  const caller = useQuery(callerQuery).data
  if (caller === undefined) return null
  if (caller.user === null)
    return (
      <Empty title={t.notSignedIn} text={t.notSignedInText}>
        <a className="btn primary" href={signInAddress()}>
          {t.signIn}
        </a>
      </Empty>
    )
  const { email, name } = caller.user
  return (
    <div className="page access">
      <Heading
        title={name ?? email}
        detail={[name && email, t.via[caller.via ?? 'dev_user']].filter(Boolean).join(' · ')}
      >
        {caller.via === 'session' && (
          <Button onClick={() => void signOut().catch(toastError)}>{t.signOut}</Button>
        )}
      </Heading>
      <Tabs
        label={t.account}
        tabs={[
          { name: 'keys', title: t.personalKeys },
          { name: 'sessions', title: t.sessions },
        ]}
        chosen={chosen}
        onChoose={next => void navigate({ to: '.', search: { tab: next }, replace: true })}
      >
        {chosen === 'keys' ? <Keys keys="/api/auth/keys" isPersonal /> : <Sessions />}
      </Tabs>
    </div>
  )
}

function Sessions() {
  const t = useText(text)
  const rows = useRows<Session>(listSessions, 'sessions')
  const end = useChange(endSession, { changes: [sessions] })
  const endAll = useChange(endSessions, { changes: [], onDone: () => location.assign('/sign-in') })

  async function askForAll() {
    const question = { title: t.endAllTitle, text: t.endAllText, action: t.endAll }
    if (await confirm({ ...question, isDangerous: true })) endAll.mutate(undefined, { onError: toastError })
  }

  return (
    <>
      <Heading detail={t.sessionsText}>
        {rows.rows?.length !== 0 && <Button onClick={() => void askForAll()}>{t.endAll}</Button>}
      </Heading>
      <List
        {...rows}
        label={t.sessions}
        keyOf={({ id }) => id}
        empty={<Empty title={t.noSessions} text={t.noSessionsText} />}
        columns={[
          { title: t.browser, cell: ({ user_agent }) => (user_agent ?? t.unknown).slice(0, 200) },
          { title: t.state, cell: ({ current }) => current && <Status tone="good">{t.current}</Status> },
          { title: t.since, cell: ({ created_at }) => <Time at={created_at} /> },
          { title: t.lastUsed, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            title: t.actions,
            isTitleHidden: true,
            isAtEnd: true,
            cell: ({ id, current, user_agent }) =>
              !current && (
                <Button
                  kind="quiet"
                  icon="close"
                  label={t.endSession((user_agent ?? t.unknown).slice(0, 80))}
                  onClick={() => end.mutate(id, { onError: toastError })}
                />
              ),
          },
        ]}
      />
    </>
  )
}
