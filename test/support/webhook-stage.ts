/** The real service, whose agents send what happens to receivers on loopback. */
import type { Delivery, Webhook } from '#features/webhooks/webhooks.schema.ts'
import type { Clock } from '#platform/clock.ts'
import type { Outbox } from '#platform/jobs/jobs.ts'
import { makeAgent } from './agents.ts'
import { buildApp, type TestApp } from './build-app.ts'

export interface NewWebhook extends Webhook {
  secret: string
}

export interface WebhookStage extends AsyncDisposable {
  app: TestApp
  /** The id of an agent of its own. */
  newAgent(): Promise<string>
  register(agentId: string, url: string, events?: string[]): Promise<NewWebhook>
  webhook(agentId: string, id: string): Promise<Webhook>
  /** Newest first. */
  deliveries(agentId: string, webhookId: string, query?: string): Promise<Delivery[]>
  /** As a feature does when something happens; the change is undone if `fails`. */
  emit(agentId: string, event: string, payload?: object, fails?: boolean): Promise<void>
}

/** To be closed by the caller. */
export async function setWebhookStage({ clock }: { clock?: Clock } = {}): Promise<WebhookStage> {
  const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' }
  const app = await buildApp({ environment, ...(clock && { clock }) })
  const path = (agentId: string) => `/api/agents/${agentId}/webhooks`
  const { agentDatabases, transact } = app.service.infrastructure
  return {
    app,
    newAgent: () => makeAgent(app),
    async register(agentId, url, events = ['*']) {
      const { status, body } = await app.call<NewWebhook>('POST', path(agentId), { body: { url, events } })
      if (status !== 201) throw new Error(`registering was answered with ${status}: ${JSON.stringify(body)}`)
      return body
    },
    webhook: async (agentId, id) => (await app.call<Webhook>('GET', `${path(agentId)}/${id}`)).body,
    async deliveries(agentId, id, query = '') {
      const list = `${path(agentId)}/${id}/deliveries?${query}`
      return (await app.call<{ deliveries: Delivery[] }>('GET', list)).body.deliveries
    },
    async emit(agentId, event, payload = {}, fails = false) {
      const work = async (outbox: Outbox) => {
        await outbox.emit(event, { agentId, ...payload })
        if (fails) throw new Error('the change failed')
      }
      await agentDatabases.use(agentId, agent => transact(agent, (_transaction, outbox) => work(outbox)))
    },
    async [Symbol.asyncDispose]() {
      await app.close()
    },
  }
}
