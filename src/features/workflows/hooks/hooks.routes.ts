import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { acceptRawBodies } from '#platform/http/requests/inbound-webhook.ts'
import { jsonReader } from '#platform/http/requests/json-body.ts'
import { sandboxed } from '#platform/http/responses/headers.ts'
import { startedSchema } from '../workflows.schema.ts'
import { readHookInput, triggerOfRequest } from './hook-request.ts'
import type { HookResult, HooksService } from './hooks.service.ts'

const maxBodyBytes = 1024 * 1024
const limits = { area: 'generic', access: 'anyone', limit: 'general' } as const

/** Registers the secret addresses of workflows. @param gatewayHeader carries the identity gateway's token */
export function registerHookRoutes(app: App, hooks: HooksService, gatewayHeader = ''): void {
  const readJson = jsonReader(app)
  void app.register((scope, _options, done) => {
    acceptRawBodies(scope)
    scope.route({
      method: 'POST',
      url: '/api/agents/:id/hooks/:token',
      config: { ...limits, operationId: 'callWorkflowHook', audit: 'exempt' },
      bodyLimit: maxBodyBytes,
      schema: {
        summary: 'Start a workflow by its secret address',
        description:
          'The body is the input of the workflow: JSON, a form or text, also with gzip. Where the trigger says `respond: "at_end"`, the answer is that of the workflow, or 202 after 60 seconds.',
        tags: ['Workflows'],
        params: Type.Object({ id: Type.String(), token: Type.String() }),
        body: Type.Unknown({ additionalProperties: true }),
        response: { 200: startedSchema, 202: startedSchema },
      },
      async handler(request, reply) {
        const { id, token } = request.params as { id: string; token: string }
        const input = await readHookInput(request, readJson, maxBodyBytes)
        const called = { input, trigger: triggerOfRequest(request, gatewayHeader) }
        const answer = await hooks.call(id, token, called, clientSignal(reply))
        return send(reply, answer)
      },
    })
    done()
  })
}

function send(reply: FastifyReply, answer: HookResult): FastifyReply {
  if ('execution_id' in answer) return reply.code(answer.isAccepted ? 202 : 200).send(answer)
  return reply
    .code(answer.status)
    .headers({ ...answer.headers, ...sandboxed })
    .send(answer.body)
}
