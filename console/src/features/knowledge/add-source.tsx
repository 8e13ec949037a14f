import { useChange } from '#console/api/query.ts'
import { useText } from '#console/i18n/text.ts'
import { useAgent } from '#console/shell/agent.tsx'
import { Dialog } from '#console/ui/dialog.tsx'
import type { JsonSchema, Values } from '#console/ui/schema.ts'
import { SchemaForm } from '#console/ui/schema-form.tsx'
import { toast } from '#console/ui/toast.tsx'
import type { NewApi, NewDatabase } from '#features/sources/new-fetched.schema.ts'
import type { NewCrawl } from '#features/sources/sources.schema.ts'
import type { sourcesSearch } from './feature.ts'
import { crawlWebsite, createFetched, sourcesPath } from './requests.ts'
import { text } from './text.ts'

export type Addable = (typeof sourcesSearch.add)[number]

/** A form that adds a website, a query or an address. */
export function AddSource({ type, onClose }: { type: Addable; onClose(): void }) {
  const t = useText(text)
  const agent = useAgent()
  const schema = useSchema(type)
  const requestOf = (values: Values) =>
    type === 'crawl'
      ? crawlWebsite(agent)(values as unknown as NewCrawl)
      : createFetched(agent)({ type, ...values } as NewApi | NewDatabase)
  const create = useChange(requestOf, {
    changes: [sourcesPath(agent)],
    onDone: ({ name }) => toast(t.created(name.slice(0, 200))),
  })
  const titles = { crawl: t.crawlTitle, database: t.databaseTitle, api: t.apiTitle }
  return (
    <Dialog title={titles[type]} onClose={onClose}>
      <SchemaForm
        schema={schema}
        submit={type === 'crawl' ? t.crawl : t.addSource}
        request={requestOf}
        onCancel={onClose}
        onSubmit={async values => {
          await create.mutateAsync(values)
          onClose()
        }}
      />
    </Dialog>
  )
}

function useSchema(type: Addable): JsonSchema {
  const t = useText(text)
  const f = t.fields
  const name = { type: 'string', title: t.name, maxLength: 300 }
  const address = { type: 'string', format: 'uri', examples: ['https://example.com/'] }
  if (type === 'database')
    return {
      required: ['name', 'query'],
      properties: {
        name,
        query: {
          type: 'string',
          title: f.query,
          description: f.queryHint,
          format: 'multiline',
          examples: ['SELECT name, price FROM products'],
        },
      },
    }
  if (type === 'api')
    return {
      required: ['name', 'url'],
      properties: {
        name,
        url: { ...address, title: f.address, description: f.addressHint },
        headers: {
          type: 'object',
          title: f.headers,
          description: f.headersHint,
          examples: [{ Authorization: 'Bearer …' }],
        },
      },
    }
  const patterns = { type: 'array', items: { type: 'string' }, description: f.patternHint }
  return {
    required: ['url', 'name'],
    properties: {
      url: { ...address, title: f.url, description: f.urlHint },
      name,
      maxPages: { type: 'integer', title: f.maxPages, minimum: 1, examples: [50] },
      maxDepth: { type: 'integer', title: f.maxDepth, minimum: 0, examples: [3] },
      includePatterns: { ...patterns, title: f.include },
      excludePatterns: { ...patterns, title: f.exclude },
      render: {
        type: 'string',
        title: f.render,
        enum: ['auto', 'never', 'always'],
        enumTitles: f.renders,
      },
      useSitemap: { type: 'boolean', title: f.sitemap },
    },
  }
}
