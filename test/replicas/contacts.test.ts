import { expect, it } from 'vitest'
import { startReplicas } from '../support/replica-set.ts'

const contacts = '/api/agents/default/contacts'

it('a person whom replicas are told of 50 times at once, in different spellings, is one contact', async () => {
  await using replicas = await startReplicas(3, {})
  const created = await Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const email = n % 2 === 0 ? 'ada@example.com' : 'ADA@Example.Com'
      const phone = n % 3 === 0 ? '+44 20 1' : '0044-201'
      return replicas
        .any()
        .call<{ id: string }>('POST', contacts, { body: { name: `Ada ${n}`, email, phone } })
    }),
  )
  const statuses = created.map(({ status }) => status).toSorted((one, other) => one - other)
  expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 409)])
  const [winner] = created.filter(({ status }) => status === 201)
  const { body } = await replicas.any().call<{ contacts: { id: string }[] }>('GET', contacts)
  expect(body.contacts.map(({ id }) => id)).toEqual([winner?.body.id])
})
