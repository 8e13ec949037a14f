import { useNavigate } from '@tanstack/react-router'
import { listQuery, queryClient, useChange, useRows } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { type Column, List } from '#console/ui/list.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import type { sessionsSearch } from './feature.ts'
import { type ListedSession, listSessions, type NewSession, openSession, sessionsPath } from './requests.ts'
import { text } from './text.ts'

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery<ListedSession>(listSessions(agent), 'sessions'))

const tones = { active: 'good', paused: 'plain', takeover: 'warn', closed: 'plain', error: 'bad' } as const

export function SessionStatus({ status }: { status: ListedSession['status'] }) {
  const t = useText(text)
  return <Status tone={tones[status]}>{t.states[status]}</Status>
}

/** The browser sessions of an agent, including those that have ended. */
export default function Sessions({ search: { open } }: ViewProps<never, typeof sessionsSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const rows = useRows<ListedSession>(listSessions(agent), 'sessions')
  const show = (isOpen: boolean) => void navigate({ to: '.', search: isOpen ? { open: 1 } : {} })
  const columns: Column<ListedSession>[] = [
    { title: t.session, cell: ({ id }) => <b className="mono">{id.slice(-8)}</b> },
    { title: t.status, cell: ({ status }) => <SessionStatus status={status} /> },
    {
      title: t.size,
      cell: ({ viewport: { width, height } }) => <span className="num">{`${width} × ${height}`}</span>,
    },
    { title: t.began, cell: ({ created_at }) => <Time at={created_at} /> },
    { title: t.used, isAtEnd: true, cell: ({ last_activity }) => <Time at={last_activity} /> },
  ]
  const opening = agent.may('change') && (
    <Button kind="primary" icon="plus" onClick={() => show(true)}>
      {t.open}
    </Button>
  )
  return (
    <div className="page">
      <Heading detail={rows.total !== undefined && t.count(rows.total)}>
        {rows.total !== 0 && opening}
      </Heading>
      <List
        {...rows}
        label={t.sessions}
        columns={columns}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `${agent.home}/browser/${path`${id}`}`}
        empty={
          <Empty title={t.none} text={t.noneText}>
            {opening}
          </Empty>
        }
      />
      {open !== undefined && agent.may('change') && <OpenForm onClose={() => show(false)} />}
    </div>
  )
}

function OpenForm({ onClose }: { onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const opening = useChange(openSession(agent), { changes: [sessionsPath(agent)] })
  const schema = {
    properties: {
      record: { title: t.record, description: t.recordHint, type: 'boolean', default: true },
      profile: { title: t.profile, description: t.profileHint, type: 'string', maxLength: 64 },
    },
  }
  return (
    <Dialog title={t.open} onClose={onClose}>
      <SchemaForm
        schema={schema}
        submit={t.open}
        request={values => openSession(agent)(values as NewSession)}
        onCancel={onClose}
        onSubmit={async values => {
          const { id } = await opening.mutateAsync(values as NewSession)
          await navigate({ to: `${agent.home}/browser/${path`${id}`}` })
        }}
      />
    </Dialog>
  )
}
