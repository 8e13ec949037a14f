import { describe, expect, it } from 'vitest'
import { testApp } from '#test/support/build-app.ts'
import { execute, makeFruits } from '#test/support/sql-stage.ts'

const schema = '/api/agents/default/sql/schema'

interface ConversationPage {
  conversations: { title: string }[]
  meta: { next_cursor: string | null }
}

describe('who may use SQL', () => {
  it.each(['read', 'chat'])(
    'with PUBLIC_ACCESS=%s nobody runs statements, but the tables are told',
    async PublicAccess => {
      const app = await testApp({ environment: { PUBLIC_ACCESS: PublicAccess } })
      await makeFruits(app)
      expect((await app.call('GET', schema)).status).toBe(200)
      const { status, body } = await execute(app, 'SELECT 1')
      expect([status, typeof body]).toEqual([403, 'string'])
      const write = await execute(app, 'DELETE FROM fruits')
      expect(write.status).toBe(403)
    },
  )

  it('what is written to a title is there for the chat, and messages stay what they were', async () => {
    const app = await testApp()
    const asked = await app.call<{ conversationId: string }>('POST', '/api/agents/default/chat', {
      body: { content: 'Hello' },
    })
    expect(asked.status).toBe(200)
    expect((await execute(app, "UPDATE conversations SET title = 'Renamed'")).body.row_count).toBe(1)
    expect((await execute(app, "UPDATE messages SET content = 'Edited'")).status).toBe(403)
    const { body } = await app.call<{ conversations: { title: string }[] }>(
      'GET',
      '/api/agents/default/chat/conversations',
    )
    expect(body.conversations.map(({ title }) => title)).toEqual(['Renamed'])
  })

  it('a title longer than the API takes is cut in lists, which can be paged by it', async () => {
    const app = await testApp()
    const path = '/api/agents/default/chat/conversations'
    for (const title of ['one', 'two']) await app.call('POST', path, { body: { title } })
    await execute(app, 'UPDATE conversations SET title = ?', ['é'.repeat(5000)])
    const page = async (cursor: string) =>
      (await app.call<ConversationPage>('GET', `${path}?sort=title&limit=1&cursor=${cursor}`)).body
    const first = await page('')
    const second = await page(first.meta.next_cursor ?? '')
    for (const { conversations } of [first, second])
      expect(conversations).toMatchObject([{ title: 'é'.repeat(200) }])
    expect(second.conversations).not.toEqual(first.conversations)
    expect(second.meta.next_cursor).toBeNull()
  })
})

describe('the built-in model', () => {
  it('runs a message that is a SELECT, and answers with its rows', async () => {
    const app = await testApp()
    await makeFruits(app)
    const { body } = await app.call<{ content: string; toolCalls: { name: string }[] }>(
      'POST',
      '/api/agents/default/chat',
      { body: { content: 'SELECT name, price FROM fruits WHERE price > 0.3' } },
    )
    expect(JSON.stringify(body)).toContain('execute_sql')
    expect(JSON.stringify(body)).toContain('apple')
    expect(JSON.stringify(body)).not.toContain('banana')
  })

  it('tells why a statement did not run', async () => {
    const app = await testApp()
    const { body } = await app.call('POST', '/api/agents/default/chat', {
      body: { content: 'SELECT payload FROM outbox' },
    })
    expect(JSON.stringify(body)).toContain('not accessible')
  })

  it.each([false, true])('changes data only with sql_tool_writes: %s', async sql_tool_writes => {
    const app = await testApp()
    await makeFruits(app)
    await app.call('PUT', '/api/agents/default/settings', { body: { sql_tool_writes } })
    const message = 'WITH doomed AS (SELECT 1 AS id) DELETE FROM fruits WHERE id IN (SELECT id FROM doomed)'
    const { body } = await app.call('POST', '/api/agents/default/chat', { body: { content: message } })
    expect(JSON.stringify(body)).toContain('execute_sql')
    const { body: left } = await execute(app, 'SELECT count(*) FROM fruits')
    expect(left.rows).toEqual([[sql_tool_writes ? 2 : 3]])
  })
})
