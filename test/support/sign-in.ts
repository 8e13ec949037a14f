/** People who sign in at the app under test. */
import { createFileLinks, createStoredLinks, makeLink } from '#features/sign-in/links.ts'
import type { Answer, TestApp } from './build-app.ts'

type Headers = Record<string, string>

/** The cookie of an answer as a browser returns it from a page of the service. */
export function cookieOf({ headers }: Answer): Headers {
  const [cookie = ''] = String(headers['set-cookie']).split(';')
  return { cookie, 'sec-fetch-site': 'same-origin' }
}

/** The token of a link that the operator makes, as `npm run sign-in` does. */
export async function operatorToken(app: TestApp, email: string): Promise<string> {
  const { platform, isExclusive, clock } = app.service.infrastructure
  const links = isExclusive ? createFileLinks(app.dataDirectory, clock) : createStoredLinks(platform, clock)
  return (await makeLink(links, clock, 'http://127.0.0.1:8080', email)).split('=')[1] ?? ''
}

export function redeem(app: TestApp, token: string, headers: Headers = {}): Promise<Answer> {
  return app.call('POST', '/api/auth/link', { body: { token }, headers })
}

/** Signs a person in by a link of the operator. */
export async function signInByOperator(app: TestApp, email: string): Promise<Headers> {
  return cookieOf(await redeem(app, await operatorToken(app, email)))
}

interface Bounded {
  email: string
  agentId: string
  role: 'chat' | 'viewer' | 'admin' | 'owner'
}

/** Has the sessions of a person with a role on the agent come by an invitation whose link its inviter saw. */
export async function boundSessions(app: TestApp, { email, agentId, role }: Bounded): Promise<void> {
  const { platform } = app.service.infrastructure
  const update = platform.updateTable('sessions').set({ proved_by: null }).where('email', '=', email)
  const sessions = await update.returning('id').execute()
  const entries = platform.selectFrom('agent_admins').select('id').where('email', '=', email)
  const { id: entry_id } = await entries.where('agent_id', '=', agentId).executeTakeFirstOrThrow()
  for (const { id: session_id } of sessions)
    await platform.insertInto('session_agents').values({ session_id, entry_id, role }).execute()
}
