import { useState } from 'react'
import { listQuery, queryClient, useRows } from '#console/api/query.ts'
import { path } from '#console/api/request.ts'
import { useText } from '#console/i18n/text.ts'
import { type Agent, useAgent } from '#console/shell/agent.tsx'
import { Button } from '#console/ui/button.tsx'
import { Empty } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import { ShownOnce } from '#console/ui/shown-once.tsx'
import { Time } from '#console/ui/time.tsx'
import { listWebhooks, type Webhook } from './requests.ts'
import { text } from './text.ts'
import { State, WebhookForm } from './webhook-form.tsx'

export const prefetch = ({ agent }: { agent: Agent }) =>
  queryClient.prefetchInfiniteQuery(listQuery(listWebhooks(agent), 'webhooks'))

/** The webhooks that receive events of the agent. */
export default function Webhooks() {
  const t = useText(text)
  const agent = useAgent()
  const rows = useRows<Webhook>(listWebhooks(agent), 'webhooks')
  const [isAdding, setAdding] = useState(false)
  const [secret, setSecret] = useState<string>()
  const add = agent.may('change') && (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  )
  return (
    <div className="page">
      <Heading detail={rows.total !== undefined && t.count(rows.total)}>
        {rows.rows?.length !== 0 && add}
      </Heading>
      <List
        {...rows}
        label={t.webhooks}
        keyOf={({ id }) => id}
        linkOf={({ id }) => `${agent.home}${path`/webhooks/${id}`}`}
        empty={
          <Empty title={t.none} text={t.noneText}>
            {add}
          </Empty>
        }
        columns={[
          { title: t.url, cell: ({ url }) => url.slice(0, 200) },
          { title: t.events, cell: ({ events }) => t.eventsOf(events) },
          { title: t.state, cell: webhook => <State webhook={webhook} /> },
          { title: t.changed, cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
      {isAdding && <WebhookForm onClose={() => setAdding(false)} onSecret={setSecret} />}
      {secret !== undefined && (
        <ShownOnce
          title={t.secret}
          text={t.secretText}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </div>
  )
}
