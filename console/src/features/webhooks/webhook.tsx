import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { listQuery, query, queryClient, useChange, useRows } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import type { LoadContext, ViewProps } from '#console/shell/view.ts'
import { Button } from '#console/ui/button.tsx'
import { CodeBlock } from '#console/ui/code.tsx'
import { confirm } from '#console/ui/confirm.tsx'
import { Empty, Problem } from '#console/ui/empty.tsx'
import { Heading } from '#console/ui/heading.tsx'
import { List } from '#console/ui/list.tsx'
import { Menu } from '#console/ui/menu.tsx'
import { Panel } from '#console/ui/panel.tsx'
import { Facts } from '#console/ui/section.tsx'
import { ShownOnce } from '#console/ui/shown-once.tsx'
import { Status } from '#console/ui/status.tsx'
import { Segments } from '#console/ui/tabs.tsx'
import { Time } from '#console/ui/time.tsx'
import { toast, toastError } from '#console/ui/toast.tsx'
import { webhookSearch } from './feature.ts'
import {
  changeWebhook,
  type Delivery,
  deleteWebhook,
  getWebhook,
  listDeliveries,
  replaceSecret,
  retryDelivery,
  testWebhook,
  type Webhook,
  webhooksPath,
} from './requests.ts'
import { text } from './text.ts'
import { State, WebhookForm } from './webhook-form.tsx'

export const prefetch = ({ agent, params: { webhookId } }: LoadContext<'webhookId'>) =>
  Promise.all([
    queryClient.prefetchQuery(query(getWebhook(agent, webhookId))),
    queryClient.prefetchInfiniteQuery(listQuery(listDeliveries(agent, webhookId), 'deliveries')),
  ])

const tones = { pending: 'info', succeeded: 'good', failed: 'bad' } as const

/** One webhook with its deliveries of the last 30 days. */
export default function WebhookView({
  params: { webhookId },
  search: { status },
}: ViewProps<'webhookId', typeof webhookSearch>) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { data: webhook, error } = useQuery(query(getWebhook(agent, webhookId)))
  const rows = useRows<Delivery>(listDeliveries(agent, webhookId, status), 'deliveries')
  const [shownId, setShownId] = useState<string>()
  const shown = rows.rows?.find(({ id }) => id === shownId)
  if (error && webhook === undefined) return <Problem error={error} />
  if (webhook === undefined) return null
  return (
    <div className="with-panel">
      <div className="page">
        <Heading title={webhook.url.slice(0, 200)} detail={<State webhook={webhook} />}>
          {agent.may('change') && <Actions webhook={webhook} />}
        </Heading>
        {webhook.disabled_reason !== null && <p className="error">{webhook.disabled_reason}</p>}
        <p className="hint">
          {t.events}: {t.eventsOf(webhook.events)}
        </p>
        <div>
          <Segments
            label={t.deliveries}
            chosen={status ?? 'all'}
            onChoose={name =>
              void navigate({ to: '.', search: name === 'all' ? {} : { status: name }, replace: true })
            }
            segments={(['all', ...webhookSearch.status] as const).map(name => ({
              name,
              title: t.statuses[name],
            }))}
          />
        </div>
        <List
          {...rows}
          label={t.deliveries}
          keyOf={({ id }) => id}
          empty={<Empty title={t.noDeliveries} text={t.noDeliveriesText} />}
          columns={[
            {
              title: t.event,
              cell: ({ id, event }) => (
                <button type="button" className="link" onClick={() => setShownId(id)}>
                  {event}
                </button>
              ),
            },
            {
              title: t.state,
              cell: one => <Status tone={tones[one.status]}>{t.statuses[one.status]}</Status>,
            },
            { title: t.attempts, cell: ({ attempts }) => <span className="num">{attempts}</span> },
            { title: t.code, cell: ({ status_code }) => <span className="num">{status_code}</span> },
            { title: t.time, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      </div>
      {shown && (
        <DeliveryPanel webhookId={webhookId} delivery={shown} onClose={() => setShownId(undefined)} />
      )}
    </div>
  )
}

function Actions({ webhook }: { webhook: Webhook }) {
  const t = useText(text)
  const agent = useAgent()
  const navigate = useNavigate()
  const { id, enabled, url } = webhook
  const [isEdited, setEdited] = useState(false)
  const [secret, setSecret] = useState<string>()
  const options = { changes: [webhooksPath(agent)] }
  const change = useChange(changeWebhook(agent, id), options)
  const test = useChange(testWebhook(agent, id), { ...options, onDone: () => toast(t.tested) })
  const replace = useChange(replaceSecret(agent, id), {
    ...options,
    onDone: answer => setSecret(answer.secret),
  })
  const removal = useChange(deleteWebhook(agent, id), options)

  async function askFor(title: string, text: string, action: string): Promise<boolean> {
    return await confirm({ title, text, action, isDangerous: true })
  }

  return (
    <>
      <Button disabled={test.isPending} onClick={() => test.mutate(undefined, { onError: toastError })}>
        {t.test}
      </Button>
      <Menu
        button={{ kind: 'quiet', icon: 'more', label: t.actionsOf(url.slice(0, 80)) }}
        items={[
          { label: t.edit, icon: 'edit', run: () => setEdited(true) },
          {
            label: enabled ? t.disable : t.enable,
            icon: enabled ? 'pause' : 'play',
            run: () => change.mutate({ enabled: !enabled }, { onError: toastError }),
          },
          {
            label: t.replaceSecret,
            icon: 'key',
            run: () =>
              void askFor(t.replaceSecret, t.replaceText, t.replace).then(isYes => {
                if (isYes) replace.mutate(undefined, { onError: toastError })
              }),
          },
          {
            label: t.delete,
            icon: 'trash',
            isDangerous: true,
            run: () =>
              void askFor(t.deleteTitle, t.deleteText, t.delete).then(async isYes => {
                if (!isYes) return
                // The view is left first because a deleted webhook cannot be read again.
                await navigate({ to: `${agent.home}/webhooks` })
                await removal.mutateAsync(undefined).catch(toastError)
              }),
          },
        ]}
      />
      {isEdited && <WebhookForm webhook={webhook} onClose={() => setEdited(false)} />}
      {secret !== undefined && (
        <ShownOnce
          title={t.secret}
          text={t.secretText}
          secret={secret}
          onClose={() => setSecret(undefined)}
        />
      )}
    </>
  )
}

interface DeliveryPanelProps {
  webhookId: string
  delivery: Delivery
  onClose(): void
}

function DeliveryPanel({ webhookId, delivery, onClose }: DeliveryPanelProps) {
  const t = useText(text)
  const agent = useAgent()
  const retry = useChange(retryDelivery(agent, webhookId), {
    changes: [webhooksPath(agent)],
    onDone: () => toast(t.retried),
  })
  const { id, event, status, status_code, duration_ms, attempts, next_attempt_at, created_at, answer } =
    delivery
  const rows = [
    { name: t.state, value: <Status tone={tones[status]}>{t.statuses[status]}</Status> },
    { name: 'webhook-id', value: <code>{id}</code> },
    { name: t.time, value: <Time at={created_at} /> },
    { name: t.attempts, value: attempts },
    { name: t.next, value: next_attempt_at && <Time at={next_attempt_at} /> },
    { name: t.code, value: status_code },
    { name: t.duration, value: duration_ms === null ? null : `${duration_ms} ms` },
  ]
  return (
    <Panel title={event} onClose={onClose}>
      <Facts rows={rows.filter(({ value }) => value !== null)} />
      {answer !== null && answer !== '' && <CodeBlock label={t.answer} text={answer} />}
      {agent.may('change') && (
        <div>
          <Button
            icon="refresh"
            disabled={retry.isPending}
            onClick={() => retry.mutate(id, { onError: toastError })}
          >
            {t.retry}
          </Button>
        </div>
      )}
    </Panel>
  )
}
