/**
 * The service. For its first seconds it also stores contacts of agent `default`, each with its event, and undoes every other
 * one of these changes: while somebody has subscribed to the event.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ContactEvents } from '#features/contacts/contacts.events.ts'
import { insertContacts } from '#features/contacts/contacts.repository.ts'
import { newContact } from '#features/contacts/contacts.service.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { configurationOrExit } from '../../../src/exit.ts'
import { start } from '../../../src/start.ts'

const changingMs = 2_000
const longestPause = 300
const undone = new Error('the change is undone')

const service = await start(configurationOrExit())
const { agentDatabases } = service.infrastructure
const transact: Transact<ContactEvents> = service.infrastructure.transact
const ends = performance.now() + changingMs
for (let number = 0; performance.now() < ends; number += 1) {
  await change(number % 2 === 0).catch(error => {
    if (error !== undone) throw error
  })
  await delay(Math.random() * longestPause)
}

async function change(isKept: boolean): Promise<void> {
  await agentDatabases.use('default', agent =>
    transact(agent, async (transaction, outbox) => {
      const subscribed = await transaction
        .selectFrom('event_subscriptions')
        .select('ref')
        .where('event', '=', 'contact.created')
        .execute()
      if (subscribed.length === 0) return
      const id = randomUUID()
      await insertContacts(transaction, [newContact(id, { name: 'Somebody' }, new Date().toISOString())])
      await outbox.emit('contact.created', { agent_id: agent.agentId, contact_id: id })
      if (!isKept) throw undone
    }),
  )
}
