/** Agents that belong to users, and who else may use them: made over HTTP, as people make them. */
import { expect } from 'vitest'
import type { TestApp } from './build-app.ts'

/** A service in this process, or one in another. */
type Callable = Pick<TestApp, 'call'>

interface NewAgent {
  /** Must be free; one that nobody else uses unless given. */
  name?: string
  /** Name the user, who becomes its owner; without them that is `DEV_USER`. */
  headers?: Record<string, string>
}

let made = 0

/** Makes an agent; gives its id. */
export async function makeAgent(app: Callable, { name, headers = {} }: NewAgent = {}): Promise<string> {
  made += 1
  const body = { name: name ?? `agent-${made}` }
  const answer = await app.call<{ id: string }>('POST', '/api/agents', { headers, body })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body.id
}

interface NewRole {
  email: string
  role: 'chat' | 'viewer' | 'admin' | 'owner'
  /** Name an owner of the agent. */
  headers: Record<string, string>
}

/** Gives a user a role on an agent; gives the path of the entry, which the owner may delete. */
export async function giveRole(app: Callable, agentId: string, given: NewRole): Promise<string> {
  const { headers, ...body } = given
  const path = `/api/agents/${agentId}/admins`
  const answer = await app.call<{ id: string }>('POST', path, { headers, body })
  expect(answer).toMatchObject({ status: 201 })
  return `${path}/${answer.body.id}`
}
