import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { takeJsonAsBytes } from '#platform/http/requests/body.ts'
import { importAnswerSchema, importBodySchema } from './import.schema.ts'
import type { ImportService } from './import.service.ts'

/** @param maxBytes the limit of the body, which contains the document. */
export function registerImportRoutes(app: App, needs: { imports: ImportService; maxBytes: number }): void {
  // A separate scope, so that other routes keep parsing JSON directly.
  void app.register((scope, _options, done) => {
    takeJsonAsBytes(scope)
    registerImport(scope, needs)
    done()
  })
}

function registerImport(scope: App, { imports, maxBytes }: Parameters<typeof registerImportRoutes>[1]): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/tools/import-openapi',
    config: { area: 'generic', access: 'admin', limit: 'bulk', operationId: 'importOpenApiTools' },
    bodyLimit: maxBytes,
    // A worker thread parses the bytes and checks them against this schema.
    validatorCompiler: () => () => true,
    schema: {
      summary: 'Import tools from an OpenAPI 3 document',
      description: 'Each operation becomes a tool. Importing again updates the tools of the earlier import.',
      tags: ['Tools'],
      params: Type.Object({ id: Type.String() }),
      body: {
        ...importBodySchema,
        minProperties: 1,
        description: 'Exactly one of `url` and `spec`.',
        examples: [{ url: 'https://petstore3.swagger.io/api/v3/openapi.json' }],
      },
      response: { 200: importAnswerSchema, 201: importAnswerSchema },
    },
    handler: async (request, reply) => {
      const { agent } = request
      const body: unknown = request.body
      if (!(body instanceof Uint8Array)) throw invalid('', 'the body is missing: give url or spec')
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      const { isStored, ...answer } = await imports.import(agent, body, signal)
      return reply.code(isStored ? 201 : 200).send({ success: true, ...answer })
    },
  })
}
