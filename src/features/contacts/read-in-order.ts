import type { Kysely } from 'kysely'
import { takeTurns } from '#platform/event-loop/turns.ts'
import type { AgentTables } from '#storage/tables.ts'
import { inOrderOf, readById, readContacts } from './contacts.repository.ts'
import type { Contact } from './contacts.schema.ts'
import { saidBy } from './plan-import.ts'

type Database = Kysely<AgentTables>

/** Max namesakes that are read at a time. */
const portion = 10

/** The first contact of a name, and the places of all, by the beginning of their digests. */
interface Namesakes {
  first: Contact
  count: number
  places: Map<string, { id: string; digest: string }[]>
}

/**
 * Yields all contacts by name, and namesakes by a digest of their fields: equal contacts come in the same
 * order, for any ids. There can be too many namesakes to hold, or to sort at once.
 */
export async function* readInOrder(database: Database): AsyncGenerator<Contact, undefined> {
  let namesakes: Namesakes | undefined
  for await (const contact of readContacts(database)) {
    if (contact.name !== namesakes?.first.name) {
      if (namesakes !== undefined) yield* sorted(database, namesakes)
      namesakes = { first: contact, count: 0, places: new Map() }
    }
    const digest = saidBy(contact)
    const beginning = digest.slice(0, 2)
    namesakes.places.set(beginning, namesakes.places.get(beginning) ?? [])
    namesakes.places.get(beginning)?.push({ id: contact.id, digest })
    namesakes.count += 1
  }
  if (namesakes !== undefined) yield* sorted(database, namesakes)
}

async function* sorted(database: Database, { first, count, places }: Namesakes): AsyncGenerator<Contact> {
  if (count === 1) {
    yield first
    return
  }
  const turn = takeTurns()
  for (const [, some] of [...places].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const ids = some.toSorted((one, other) => (one.digest < other.digest ? -1 : 1)).map(({ id }) => id)
    for (let start = 0; start < ids.length; start += portion) {
      const page = ids.slice(start, start + portion)
      for (const contact of inOrderOf(page, await readById(database, page))) {
        yield contact
        if (turn.isOver()) await turn.next()
      }
    }
  }
}
