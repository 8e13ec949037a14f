import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { approvalListQuery, approvalSchema, decidedSchema, decisionSchema } from './approvals.schema.ts'
import type { ApprovalsService } from './approvals.service.ts'

export function registerApprovalRoutes(app: App, approvals: ApprovalsService): void {
  const routes = routesBelow(app, '/api/agents/:id/chat/approvals', 'Chat', 'chat')

  routes.list('', {
    name: 'listApprovals',
    summary: 'List tool calls that wait for approval or were decided',
    query: approvalListQuery,
    rows: 'approvals',
    of: approvalSchema,
    handle: ({ agent, query }) => approvals.list(agent, query),
  })
  routes.post('/:toolCallId', {
    name: 'decideApproval',
    summary: 'Approve or reject a tool call',
    description: 'An approved call is made now. The answer that the call belongs to receives its result.',
    body: decisionSchema,
    answer: decidedSchema,
    async handle({ agent, body, params }) {
      const result = await approvals.decide(agent, params.toolCallId, body.approved !== false)
      return { success: result.error === undefined, ...result }
    },
  })
}
