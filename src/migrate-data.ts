/** `npm run migrate-data`: copies the data of the service between data directories and databases of PostgreSQL. */
import { parseArgs } from 'node:util'
import { indexedText } from '#features/knowledge/indexing/indexed-text.ts'
import { searchableText } from '#models/text-analysis/text-analysis.ts'
import { type Address, parseAddress, withEnds } from '#storage/transfer/open-end.ts'
import { createProgress } from '#storage/transfer/progress.ts'
import { transfer } from '#storage/transfer/transfer.ts'
import { exitBecause, misused } from './exit.ts'

interface Copy {
  from: Address
  to: Address
  agent: string | null
}

const usage = `Usage: npm run migrate-data -- --from PLACE --to PLACE [--agent ID]

A PLACE is a data directory (SQLite) or postgres://user:password@host:port/database.
Without --agent everything is copied, into a place that is empty; with it, one agent
into a place that may hold others. Stop the service first. What was interrupted is
begun anew when the same command is run again.
`

/** Returns undefined for an invalid command. */
function readCommand(): Copy | undefined {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({ options: { from: text, to: text, agent: text } })
    const [from, to] = [parseAddress(values.from ?? ''), parseAddress(values.to ?? '')]
    return from && to && { from, to, agent: values.agent ?? null }
  } catch {
    return undefined
  }
}

function copy({ from, to, agent }: Copy): Promise<void> {
  const progress = createProgress(line => process.stdout.write(`${line}\n`))
  return withEnds(from, to, ends =>
    transfer({ ...ends, agent, searchableText: chunk => searchableText(indexedText(chunk)), progress }),
  )
}

const command = readCommand()
if (command === undefined) {
  process.stderr.write(usage)
  process.exit(misused)
}
await copy(command).catch(error => exitBecause('The data was not copied', error))
