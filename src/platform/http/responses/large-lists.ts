import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { takeTurns } from '../../event-loop/turns.ts'
import type { App } from '../app.ts'
import { schemaWriter } from './schema-writer.ts'

type WriteEntry = (entry: unknown) => string

/** Max characters of a list that are written at a time. */
const large = 64 * 1024

/**
 * Writes the longest list of a response entry by entry, in turns: at once, a thousand entries of some
 * kilobytes would block all other requests. The sent response is the same, including its length.
 */
export function writeListsInTurns(app: App): void {
  const writers = new WeakMap<TSchema, WriteEntry>()
  app.addHook('preSerialization', (request, reply, payload, done) => {
    const answers = request.routeOptions.schema?.response as Record<string, TSchema> | undefined
    const list = longestList(answers?.[reply.statusCode], payload)
    const frame = list && frameOf(reply, payload as object, list.name)
    if (list === undefined || frame === undefined) {
      done(null, payload)
      return
    }
    const write = writers.get(list.schema) ?? schemaWriter(list.schema)
    writers.set(list.schema, write)
    writeInTurns(list.entries, write, frame).then(
      written => {
        reply.serializer((text: Readable | string) => text as string)
        done(null, written.length === 1 ? String(written[0]) : streamOf(reply, written))
      },
      (error: Error) => done(error),
    )
  })
}

/** Returns the longest list among those that the schema names. */
function longestList(schema: TSchema | undefined, payload: unknown) {
  if (!Type.IsObject(schema) || typeof payload !== 'object' || payload === null) return undefined
  const values = new Map<string, unknown>(Object.entries(payload))
  const lists = Object.entries<TSchema>(schema.properties).flatMap(([name, property]) => {
    const entries = values.get(name)
    return Type.IsArray(property) && Array.isArray(entries) ? [{ name, schema: property.items, entries }] : []
  })
  return lists.reduce<(typeof lists)[number] | undefined>(
    (longest, list) => (list.entries.length > (longest?.entries.length ?? 1) ? list : longest),
    undefined,
  )
}

/** Returns the texts before and after the entries; undefined if they are unknown. */
function frameOf(reply: FastifyReply, payload: object, name: string): [string, string] | undefined {
  const text: string | undefined = reply.getSerializationFunction(`${reply.statusCode}`)?.({
    ...payload,
    [name]: [],
  })
  const [before, after, ...others] = text?.split(`${JSON.stringify(name)}:[]`) ?? []
  if (before === undefined || after === undefined || others.length > 0) return undefined
  return [`${before}${JSON.stringify(name)}:[`, `]${after}`]
}

async function writeInTurns(
  entries: readonly unknown[],
  write: WriteEntry,
  [before, after]: [string, string],
): Promise<Buffer[]> {
  const turn = takeTurns()
  const written: Buffer[] = []
  let text = before
  for (const [at, entry] of entries.entries()) {
    text += (at === 0 ? '' : ',') + write(entry)
    if (text.length < large) continue
    written.push(Buffer.from(text))
    text = ''
    if (turn.isOver()) await turn.next()
  }
  return [...written, Buffer.from(text + after)]
}

function streamOf(reply: FastifyReply, written: readonly Buffer[]): Readable {
  const length = written.reduce((bytes, { length }) => bytes + length, 0)
  reply.header('content-length', length)
  return Readable.from(written, { objectMode: false })
}
