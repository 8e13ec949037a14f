import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalid, notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { acceptForms, readForm } from '#platform/http/requests/multipart.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  contactChangesSchema,
  contactListQuery,
  contactSchema,
  createdContactSchema,
  exportQuery,
  type ImportReport,
  importForm,
  importReportSchema,
  mergeSchema,
  newContactSchema,
  resolvedSchema,
  resolveQuery,
} from './contacts.schema.ts'
import type { ContactsService } from './contacts.service.ts'
import { exportCsv, exportJson } from './export-contacts.ts'
import type { ImportContacts } from './import-contacts.ts'
import { type CsvFile, storeCsv } from './read-csv.ts'

const agentPath = Type.Object({ id: Type.String() })

interface Dependencies {
  contacts: ContactsService
  importContacts: ImportContacts
  maxUploadBytes: number
}

export function registerContactRoutes(app: App, dependencies: Dependencies): void {
  registerContacts(app, dependencies)
  registerExport(app)
  // The scope is separate, so that all other routes refuse forms.
  void app.register((scope, _options, done) => {
    acceptForms(scope)
    registerImport(scope, dependencies)
    done()
  })
}

function registerContacts(app: App, { contacts }: Dependencies): void {
  const routes = routesBelow(app, '/api/agents/:id/contacts', 'Contacts')

  routes.list('', {
    name: 'listContacts',
    summary: 'List contacts',
    query: contactListQuery,
    rows: 'contacts',
    of: contactSchema,
    handle: ({ agent, query }) => contacts.list(agent.db, query),
  })
  routes.get('/resolve', {
    name: 'resolveContact',
    summary: 'Find the contact with an e-mail address, number or handle',
    query: resolveQuery,
    answer: resolvedSchema,
    async handle({ agent, query }) {
      if (Object.keys(query).length !== 1)
        throw invalid('query', 'name exactly one identifier, such as email or phone')
      const resolved = await contacts.resolveAny(agent, query)
      if (resolved === undefined) throw notFound('Contact')
      return resolved
    },
  })
  routes.get('/:contactId', {
    name: 'getContact',
    summary: 'Get a contact',
    answer: contactSchema,
    handle: ({ agent, params }) => contacts.find(agent.db, params.contactId),
  })
  routes.create('', {
    name: 'createContact',
    summary: 'Create a contact',
    body: newContactSchema,
    answer: createdContactSchema,
    handle: ({ agent, body }) => contacts.create(agent, body),
  })
  routes.update('/:contactId', {
    name: 'updateContact',
    summary: 'Update fields of a contact',
    description: 'The value null removes a field.',
    body: contactChangesSchema,
    answer: contactSchema,
    handle: ({ agent, params, body }) => contacts.update(agent, params.contactId, body),
  })
  routes.remove('/:contactId', {
    name: 'deleteContact',
    summary: 'Delete a contact',
    handle: ({ agent, params }) => contacts.remove(agent, params.contactId),
  })
  routes.post('/:contactId/merge', {
    name: 'mergeContacts',
    summary: 'Merge another contact into this one',
    body: mergeSchema,
    answer: contactSchema,
    handle: ({ agent, params, body }) => contacts.merge(agent, params.contactId, body.from),
  })
}

function registerExport(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/contacts/export',
    config: { area: 'generic', access: 'viewer', limit: 'bulk', operationId: 'exportContacts' },
    schema: {
      summary: 'Export all contacts as CSV or JSON',
      tags: ['Contacts'],
      params: agentPath,
      querystring: exportQuery,
      response: {
        200: {
          content: {
            'text/csv': { schema: Type.Unsafe<Readable>(Type.String()) },
            'application/json': { schema: Type.Unsafe<Readable>(Type.Array(contactSchema)) },
          },
        },
      },
    },
    handler: (request, reply) => {
      const { format = 'csv' } = request.query
      const write = format === 'csv' ? exportCsv : exportJson
      limitWaiting(reply.raw)
      void reply
        .type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
        .header('Content-Disposition', `attachment; filename="contacts.${format}"`)
        .send(Readable.from(write(request.agent.db)))
    },
  })
}

const limits = { area: 'generic', access: 'admin', limit: 'bulk' } as const

function registerImport(scope: App, dependencies: Dependencies): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/contacts/import',
    config: { ...limits, operationId: 'importContacts', audit: 'described' },
    schema: {
      summary: 'Import contacts from a CSV file',
      tags: ['Contacts'],
      consumes: ['multipart/form-data'],
      form: importForm,
      params: agentPath,
      response: { 200: importReportSchema },
    },
    handler: (request, reply) => importFile(request, reply, dependencies),
  })
}

async function importFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { importContacts, maxUploadBytes }: Dependencies,
): Promise<ImportReport> {
  await using files = new AsyncDisposableStack()
  let stored: CsvFile | undefined
  const signal = AbortSignal.any([request.agent.signal, clientSignal(reply)])
  const { fields, file } = await readForm(request, {
    file: {
      async store(content) {
        stored = files.use(await storeCsv(content))
      },
      discard: async () => {},
    },
    maxBytes: maxUploadBytes,
    acceptName: () => {},
    signal,
  })
  const { columns, dry_run: dryRun = 'false' } = fields
  if (stored === undefined || file?.field !== 'file') throw invalid('file', 'send a CSV file in this field')
  if (!['true', 'false'].includes(dryRun)) throw invalid('dry_run', 'must be true or false')
  return await importContacts(request.agent, stored, { columns, isDryRun: dryRun === 'true', signal })
}
