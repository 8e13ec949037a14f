import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { approvalListQuery, approvalListSchema, decidedSchema, decisionSchema } from './approvals.schema.ts'
import type { ApprovalsService } from './approvals.service.ts'

export function registerApprovalRoutes(app: App, approvals: ApprovalsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/approvals',
    config: { area: 'chat', access: 'viewer', limit: 'general', operationId: 'listApprovals' },
    schema: {
      summary: 'Calls of tools that wait for a person, or have had their word',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String() }),
      querystring: approvalListQuery,
      response: { 200: approvalListSchema },
    },
    handler: async request => {
      const { rows, meta } = await approvals.list(request.agent, request.query)
      return { approvals: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/chat/approvals/:toolCallId',
    config: { area: 'chat', access: 'admin', limit: 'general', operationId: 'decideApproval' },
    schema: {
      summary: 'Make a call that waits for approval, or refuse it; its result goes into the answer',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String(), toolCallId: Type.String() }),
      body: decisionSchema,
      response: { 200: decidedSchema },
    },
    handler: async request => {
      const { agent, body, params } = request
      const result = await approvals.decide(agent, params.toolCallId, body.approved !== false)
      return { success: result.error === undefined, ...result }
    },
  })
}
