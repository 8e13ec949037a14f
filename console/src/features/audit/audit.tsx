import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { listQuery, queryClient, useRows } from '#console/api/query.ts'
import { addressOf, get } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, SearchOf, ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { SelectField, TextField } from '#console/ui/field.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { Icon } from '#console/ui/icon.tsx'
import { List } from '#console/ui/list.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Facts } from '#console/ui/section.tsx'
import { Status } from '#console/ui/status.tsx'
import { Time } from '#console/ui/time.tsx'
import type { AuditEntry } from '#features/audit/audit.schema.ts'
import type { auditSearch } from './feature.ts'
import { text } from './text.ts'
import './audit.css'

type Filters = SearchOf<typeof auditSearch>

const listAudit = ({ api }: Agent, given: Filters = {}) =>
  get<{ entries: AuditEntry[] }>(`${api}/audit`, { ...given })

export const prefetch = ({ agent }: LoadContext) =>
  queryClient.prefetchInfiniteQuery(listQuery(listAudit(agent), 'entries'))

const tones = { done: 'good', refused: 'warn', failed: 'bad' } as const

/** The log of changes: the person or program, the change and its time. */
export default function Audit({ search: given }: ViewProps<never, typeof auditSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const rows = useRows<AuditEntry>(listAudit(agent, given), 'entries')
  const [shown, setShown] = useState<AuditEntry>()
  const file = (format: string) => addressOf(get(`${agent.api}/audit`, { ...given, format }))
  return (
    <div className="with-panel">
      <div className="page">
        <Heading detail={rows.total !== undefined && t.count(rows.total)}>
          {['csv', 'ndjson'].map(format => (
            <a key={format} className="btn plain" href={file(format)} download={`audit.${format}`}>
              <Icon name="download" />
              <span className="sr">{t.download}</span> {format.toUpperCase()}
            </a>
          ))}
        </Heading>
        <FilterForm key={JSON.stringify(given)} given={given} />
        <List
          {...rows}
          label={t.entries}
          keyOf={({ id }) => id}
          empty={<Empty title={t.none} text={Object.keys(given).length > 0 ? t.noneSuch : t.noneText} />}
          columns={[
            {
              title: t.operation,
              cell: entry => (
                <button type="button" className="link" onClick={() => setShown(entry)}>
                  {entry.operation}
                </button>
              ),
            },
            { title: t.actor, cell: entry => actorOf(entry, t.kinds) },
            { title: t.object, cell: ({ object }) => <code>{object}</code> },
            { title: t.outcome, cell: ({ outcome }) => <Outcome outcome={outcome} /> },
            { title: t.time, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      </div>
      {shown && <Entry entry={shown} onClose={() => setShown(undefined)} />}
    </div>
  )
}

function FilterForm({ given }: { given: Filters }) {
  const t = useText(text)
  const navigate = useNavigate()
  const [draft, setDraft] = useState(given)
  const show = (next: Filters) => void navigate({ to: '.', search: next, replace: true })
  const choice = (name: keyof Filters, of: Readonly<Record<string, string>>) => ({
    value: draft[name] ?? '',
    onChange: (value: string) => show({ ...draft, [name]: value }),
    choices: [{ value: '', label: t.all }, ...Object.entries(of).map(([value, label]) => ({ value, label }))],
  })
  const typed = (name: keyof Filters) => ({
    value: draft[name] ?? '',
    onChange: (value: string) => setDraft({ ...draft, [name]: value }),
  })
  return (
    <form
      className="filters"
      aria-label={t.filters}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        show(draft)
      }}
    >
      <SelectField label={t.kind} {...choice('actor_kind', t.kinds)} />
      <SelectField label={t.outcome} {...choice('outcome', t.outcomes)} />
      <TextField label={t.actorId} {...typed('actor_id')} />
      <TextField label={t.operation} {...typed('operation')} placeholder={t.operationExample} />
      <TextField label={t.object} {...typed('object')} />
      <Button type="submit">{t.filter}</Button>
    </form>
  )
}

function Outcome({ outcome }: { outcome: string }) {
  const t = useText(text)
  return (
    <Status tone={tones[outcome as keyof typeof tones] ?? 'plain'}>
      {t.outcomes[outcome as keyof typeof tones] ?? outcome}
    </Status>
  )
}

/** An id is more reliable than a name that anyone can choose; a person's id is the address. */
function actorOf(
  { actor_kind: kind, actor_id: id, actor_name: name }: AuditEntry,
  kinds: Readonly<Record<string, string>>,
) {
  return kind === 'person' && id !== null ? id : [kinds[kind] ?? kind, name ?? id].filter(Boolean).join(': ')
}

function Entry({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  const t = useText(text)
  const rows = [
    { name: t.time, value: <Time at={entry.created_at} /> },
    { name: t.actor, value: actorOf(entry, t.kinds) },
    { name: t.actorId, value: entry.actor_id },
    { name: t.person, value: entry.actor_person },
    { name: t.address, value: entry.address },
    { name: t.object, value: entry.object },
    { name: t.outcome, value: <Outcome outcome={entry.outcome} /> },
  ]
  return (
    <Panel title={entry.operation} onClose={onClose}>
      <Facts rows={rows.filter(({ value }) => value !== null)} />
      {entry.changes !== null && (
        <CodeBlock label={t.changes} text={JSON.stringify(entry.changes, undefined, 2)} />
      )}
    </Panel>
  )
}
