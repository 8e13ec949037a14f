import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { invalid, notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { acceptForms, readForm } from '#platform/http/requests/multipart.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import type { ImportReport } from './contacts.schema.ts'
import {
  contactChangesSchema,
  contactListQuery,
  contactListSchema,
  contactSchema,
  createdContactSchema,
  exportQuery,
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
import type { CsvFile } from './read-csv.ts'
import { storeCsv } from './read-csv.ts'

const agentPath = Type.Object({ id: Type.String() })
const contactPath = Type.Object({ id: Type.String(), contactId: Type.String() })

interface Dependencies {
  contacts: ContactsService
  importContacts: ImportContacts
  maxUploadBytes: number
}

export function registerContactRoutes(app: App, needs: Dependencies): void {
  registerReading(app, needs)
  registerChanging(app, needs)
  registerExport(app)
  // A scope of its own, so that every other route keeps refusing forms.
  void app.register((scope, _options, done) => {
    acceptForms(scope)
    registerImport(scope, needs)
    done()
  })
}

function registerReading(app: App, { contacts }: Dependencies): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/contacts',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'listContacts' },
    schema: {
      summary: 'The people that the agent knows',
      tags: ['Contacts'],
      params: agentPath,
      querystring: contactListQuery,
      response: { 200: contactListSchema },
    },
    handler: async request => {
      const { rows, meta } = await contacts.list(request.agent.db, request.query)
      return { contacts: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/contacts/resolve',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'resolveContact' },
    schema: {
      summary: 'Whom an e-mail address, a number or a handle belongs to',
      tags: ['Contacts'],
      params: agentPath,
      querystring: resolveQuery,
      response: { 200: resolvedSchema },
    },
    handler: async request => {
      if (Object.keys(request.query).length === 0)
        throw invalid('query', 'name an identifier, such as email or phone')
      const resolved = await contacts.resolveAny(request.agent, request.query)
      if (resolved === undefined) throw notFound('Contact')
      return resolved
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/contacts/:contactId',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getContact' },
    schema: {
      summary: 'A contact',
      tags: ['Contacts'],
      params: contactPath,
      response: { 200: contactSchema },
    },
    handler: request => contacts.find(request.agent.db, request.params.contactId),
  })
}

function registerChanging(app: App, { contacts }: Dependencies): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/contacts',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'createContact' },
    schema: {
      summary: 'Add a contact',
      tags: ['Contacts'],
      params: agentPath,
      body: newContactSchema,
      response: { 201: createdContactSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await contacts.create(request.agent, request.body)),
  })

  app.route({
    method: 'PUT',
    url: '/api/agents/:id/contacts/:contactId',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'updateContact' },
    schema: {
      summary: 'Change fields of a contact; null removes one',
      tags: ['Contacts'],
      params: contactPath,
      body: contactChangesSchema,
      response: { 200: contactSchema },
    },
    handler: request => contacts.update(request.agent, request.params.contactId, request.body),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/contacts/:contactId',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'deleteContact' },
    schema: {
      summary: 'Remove a contact',
      tags: ['Contacts'],
      params: contactPath,
      response: { 200: successSchema },
    },
    handler: async request => {
      await contacts.remove(request.agent, request.params.contactId)
      return { success: true }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/contacts/:contactId/merge',
    config: { area: 'generic', access: 'admin', limit: 'general', operationId: 'mergeContacts' },
    schema: {
      summary: 'Make one contact of two',
      tags: ['Contacts'],
      params: contactPath,
      body: mergeSchema,
      response: { 200: contactSchema },
    },
    handler: request => contacts.merge(request.agent, request.params.contactId, request.body.from),
  })
}

function registerExport(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/contacts/export',
    config: { area: 'generic', access: 'viewer', limit: 'bulk', operationId: 'exportContacts' },
    schema: {
      summary: 'All contacts as a CSV file, or as JSON',
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

function registerImport(scope: App, needs: Dependencies): void {
  scope.route({
    method: 'POST',
    url: '/api/agents/:id/contacts/import',
    config: { area: 'generic', access: 'admin', limit: 'bulk', operationId: 'importContacts' },
    schema: {
      summary: 'Add and update the contacts of a CSV file',
      tags: ['Contacts'],
      consumes: ['multipart/form-data'],
      form: importForm,
      params: agentPath,
      response: { 200: importReportSchema },
    },
    handler: request => importFile(request, needs),
  })
}

async function importFile(
  request: FastifyRequest,
  { importContacts, maxUploadBytes }: Dependencies,
): Promise<ImportReport> {
  await using files = new AsyncDisposableStack()
  let stored: CsvFile | undefined
  const { fields, file } = await readForm(request, {
    file: {
      async store(content) {
        stored = files.use(await storeCsv(content))
      },
      discard: async () => {},
    },
    maxBytes: maxUploadBytes,
    acceptName: () => {},
    signal: request.agent.signal,
  })
  const { columns, dry_run: dryRun = 'false' } = fields
  if (stored === undefined || file?.field !== 'file') throw invalid('file', 'send a CSV file in this field')
  if (!['true', 'false'].includes(dryRun)) throw invalid('dry_run', 'must be true or false')
  return await importContacts(request.agent, stored, { columns, isDryRun: dryRun === 'true' })
}
