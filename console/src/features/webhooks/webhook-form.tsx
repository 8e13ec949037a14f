import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { Status } from '#console/ui/status.tsx'
import { changeWebhook, createWebhook, type Webhook, webhooksPath } from './requests.ts'
import { text } from './text.ts'

interface WebhookFormProps {
  /** The webhook to change; undefined for a new one. */
  webhook?: Webhook
  onClose(): void
  /** Called with the secret of a new webhook. */
  onSecret?(secret: string): void
}

export function WebhookForm({ webhook, onClose, onSecret }: WebhookFormProps) {
  const t = useText(text)
  const agent = useAgent()
  const changes = [webhooksPath(agent)]
  const create = useChange(createWebhook(agent), { changes, onDone: ({ secret }) => onSecret?.(secret) })
  const change = useChange(changeWebhook(agent, webhook?.id ?? ''), { changes })
  const schema = {
    required: ['url', 'events'],
    properties: {
      url: { type: 'string', title: t.url, description: t.urlHint, examples: ['https://example.com/events'] },
      events: { type: 'array', items: { type: 'string' }, title: t.events, description: t.eventsHint },
    },
  }
  return (
    <Dialog title={webhook === undefined ? t.add : t.edit} onClose={onClose}>
      <SchemaForm
        schema={schema}
        initial={webhook ? { url: webhook.url, events: webhook.events } : { events: ['*'] }}
        submit={webhook === undefined ? t.add : t.save}
        request={webhook === undefined ? createWebhook(agent) : changeWebhook(agent, webhook.id)}
        onCancel={onClose}
        onSubmit={async values => {
          await (webhook === undefined ? create : change).mutateAsync(values)
          onClose()
        }}
      />
    </Dialog>
  )
}

export function State({ webhook: { enabled, failing_since, disabled_reason } }: { webhook: Webhook }) {
  const t = useText(text)
  if (!enabled) return <Status tone={disabled_reason === null ? 'plain' : 'bad'}>{t.states.disabled}</Status>
  return failing_since === null ? (
    <Status tone="good">{t.states.enabled}</Status>
  ) : (
    <Status tone="warn">{t.states.failing}</Status>
  )
}
