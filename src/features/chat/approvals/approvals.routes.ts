import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { approvalListQuery, approvalSchema, decidedSchema, decisionSchema } from '../approvals.schema.ts'
import { sightOf } from '../reach.ts'
import type { ApprovalsService } from './approvals.service.ts'

export function registerApprovalRoutes(app: App, approvals: ApprovalsService): void {
  const routes = routesBelow(app, '/api/agents/:id/chat/approvals', 'Chat', 'chat')

  routes.list('', {
    name: 'listApprovals',
    summary: 'List tool calls that wait for approval or were decided',
    query: approvalListQuery,
    rows: 'approvals',
    of: approvalSchema,
    chat: true,
    handle: request => approvals.list(request.agent, request.query, sightOf(request)),
  })
  routes.post('/:toolCallId', {
    name: 'decideApproval',
    summary: 'Approve or reject a tool call',
    description: 'An approved call is made now. The answer that the call belongs to receives its result.',
    body: decisionSchema,
    answer: decidedSchema,
    chat: true,
    async handle(request) {
      const { agent, body, params } = request
      const isApproved = body.approved !== false
      const result = await approvals.decide(agent, params.toolCallId, isApproved, { reach: sightOf(request) })
      return { success: result.error === undefined, ...result }
    },
  })
}
