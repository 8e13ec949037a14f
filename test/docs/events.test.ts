/** docs/events.md lists each event with the fields of its payload, as the features declare them. */
import { globSync, readFileSync } from 'node:fs'
import type { TObject } from 'typebox'
import { expect, it } from 'vitest'
import { outboundEvents } from '../spec/outbound-events.ts'

interface Field {
  type?: string | string[]
  format?: string
  enum?: string[]
  description?: string
}

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
const folder = new URL('../../src/features/', import.meta.url)
const declared = await declaredEvents()

async function declaredEvents(): Promise<[string, TObject][]> {
  const files = globSync('*/*.events.ts', { cwd: folder }).filter(
    file => !file.endsWith('/settings.events.ts'),
  )
  const modules: object[] = await Promise.all(
    files.toSorted().map(file => import(new URL(file, folder).href)),
  )
  const sets = modules.flatMap(module => Object.entries(module).filter(([name]) => name.endsWith('Events')))
  return sets.flatMap(([, events]) => Object.entries(events as Record<string, TObject>))
}

function typeOf({ type, format, enum: values }: Field): string {
  if (values !== undefined) return values.map(value => `\`${value}\``).join(', ')
  const [main = 'any value', ...others] = [type ?? []].flat()
  return [format === 'date-time' ? 'time' : main, ...others].join(' or ')
}

function sectionOf(name: string, schema: TObject): string {
  const { description = '', properties, required } = schema as TObject & Field
  const rows = Object.entries(properties as Record<string, Field>).map(([field, of]) => {
    const presence = required?.includes(field) ? '' : ', optional'
    return `| \`${field}\` | ${typeOf(of)}${presence} | ${of.description ?? ''} |`.replace('|  |', '| |')
  })
  return [`### ${name}`, '', description, '', '| field | type | |', '|---|---|---|', ...rows, ''].join('\n')
}

it('has a part for each event, with its fields', () => {
  for (const [name, schema] of declared) expect(page).toContain(sectionOf(name, schema))
})

it('has no other parts, and all events of the specification', () => {
  const names = declared.map(([name]) => name)
  expect([...page.matchAll(/^### (.*)$/gm)].map(([, name]) => name)).toEqual(names)
  expect(names).toEqual(expect.arrayContaining(outboundEvents.map(({ name }) => name)))
})
