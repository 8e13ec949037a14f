import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { AccessService } from '#features/access/access.service.ts'
import type { Actor } from '#platform/actor.ts'
import { inOneCase } from '#platform/email-address.ts'
import { AccessDenied, AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { acceptRawBodies } from '#platform/http/requests/inbound-webhook.ts'
import { escaped, sendSmallPage } from '#platform/http/responses/small-page.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { Decisions, Offered } from './decisions.service.ts'

interface Dependencies {
  decisions: Decisions
  access: Pick<AccessService, 'permissionOn'>
  agentDatabases: Pick<AgentDatabases, 'acquireUnproven'>
}

const url = '/api/agents/:id/decisions/:token'
const config = { area: 'generic', access: 'anyone', limit: 'general', byKey: false, audit: 'exempt' } as const
const page = { content: { 'text/html': { schema: Type.String() } } }
const schema = {
  tags: ['Chat'],
  params: Type.Object({ id: Type.String(), token: Type.String() }),
  response: { 200: page, 403: page, 404: page, 409: page },
}
const title = 'A decision for agentstead'
const notValid = 'This link is not valid: a part of it may have been lost on the way.'

type Show = (
  agent: AgentHandle,
  offered: Offered,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>

/** The links of notices by e-mail. Opening one decides nothing, because programs that check for malicious links open it, too. */
export function registerDecisionRoutes(app: App, needs: Dependencies): void {
  const { decisions, access } = needs
  void app.register((scope, _options, done) => {
    acceptRawBodies(scope)
    scope.route({
      method: 'GET',
      url,
      config: { ...config, operationId: 'showDecision' },
      schema: {
        ...schema,
        summary: 'Get the page behind a link of a notice',
        description: 'Decides nothing: the page has a button that does.',
      },
      handler: withLink(needs, async (agent, { notice, isApproved }, _request, reply) => {
        await decisions.contactOf(agent, notice)
        const content = `<h1>${isApproved ? 'Approve this?' : 'Refuse this?'}</h1>
<p class="given">${escaped(notice.text)}</p>
<form method="post"><button>${isApproved ? 'Approve' : 'Refuse'}</button></form>`
        return sendSmallPage(reply, { title, content, hasForm: true })
      }),
    })
    scope.route({
      method: 'POST',
      url,
      config: { ...config, operationId: 'makeDecision' },
      schema: { ...schema, summary: 'Approve or reject as a link of a notice says' },
      handler: withLink(needs, async (agent, offered, request, reply) => {
        const contact = await decisions.contactOf(agent, offered.notice)
        const actor = await otherPerson(access, request, agent, contact.email)
        const { words, isDone } = await decisions.decide(agent, offered, { actor, address: request.ip })
        return sendWords(reply.code(isDone ? 200 : 409), words)
      }),
    })
    done()
  })
}

/** Responds with a page. Without a valid link, its text does not even reveal whether the agent exists. */
function withLink({ decisions, agentDatabases }: Dependencies, show: Show) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { id, token } = request.params as { id: string; token: string }
    using agent = await agentDatabases.acquireUnproven(id)
    const offered = agent && (await decisions.read(agent, token))
    if (agent === undefined || offered?.notice.channel !== 'email')
      return sendWords(reply.code(404), notValid)
    const end = decisions.endOf(offered.notice)
    if (end !== undefined) return sendWords(reply.code(409), end)
    return await show(agent, offered, request, reply).catch(error => {
      if (error instanceof AccessDenied) return sendWords(reply.code(403), error.message)
      if (!(error instanceof AppError && error.fault === 'user')) throw error
      return sendWords(reply.code(error.status), error.message)
    })
  }
}

/** Returns the signed-in person if it is not the contact. Throws AccessDenied for a person who may not decide. */
async function otherPerson(
  access: Dependencies['access'],
  request: FastifyRequest,
  { agentId }: AgentHandle,
  email: string | null | undefined,
): Promise<Actor | undefined> {
  const { user, via } = request.caller
  if (user === undefined || via === 'developer' || inOneCase(email ?? '') === user.email) return undefined
  const permission = await Promise.resolve(access.permissionOn(agentId, request)).catch(() => undefined)
  if (permission === 'admin' || permission === 'owner') return request.actor
  throw new AccessDenied('You are signed in as another person, who may not decide here. Nothing was done.')
}

function sendWords(reply: FastifyReply, words: string): FastifyReply {
  return sendSmallPage(reply, { title, content: `<p role="status">${escaped(words)}</p>` })
}
