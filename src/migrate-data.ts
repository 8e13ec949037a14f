/** `npm run migrate-data`: copies the data of the service between data directories and databases of PostgreSQL. */
import { parseArgs } from 'node:util'
import { indexedText } from '#features/knowledge/indexing/indexed-text.ts'
import { searchableText } from '#models/text-analysis/text-analysis.ts'
import { abandonTransfer } from '#storage/transfer/abandon.ts'
import type { Address } from '#storage/transfer/open-end.ts'
import { parseAddress, withEnd, withEnds } from '#storage/transfer/open-end.ts'
import { createProgress } from '#storage/transfer/progress.ts'
import { transfer } from '#storage/transfer/transfer.ts'
import { exitBecause, misused } from './exit.ts'

interface Copy {
  kind: 'copy'
  from: Address
  to: Address
  agent: string | null
}

interface Abandon {
  kind: 'abandon'
  to: Address
  agent: string
}

const usage = `Usage: npm run migrate-data -- --from PLACE --to PLACE [--agent ID]
       npm run migrate-data -- --to PLACE --agent ID --abandon

A PLACE is a data directory (SQLite) or postgres://user:password@host:port/database.
Without --agent everything is copied, into a place that is empty; with it, one agent
into a place that may hold others. Stop the service first. What was interrupted goes
on when the same command is run again; --abandon removes an agent that was copied in
part instead.
`

/** Undefined for what is no command. */
function readCommand(): Copy | Abandon | undefined {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      options: { from: text, to: text, agent: text, abandon: { type: 'boolean' } },
    })
    const { agent, abandon } = values
    const [from, to] = [parseAddress(values.from ?? ''), parseAddress(values.to ?? '')]
    if (to === undefined) return undefined
    if (abandon) return agent && values.from === undefined ? { kind: 'abandon', to, agent } : undefined
    return from && { kind: 'copy', from, to, agent: agent ?? null }
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

async function abandon({ to, agent }: Abandon): Promise<void> {
  await withEnd(to, target => abandonTransfer(target, agent))
  process.stdout.write(`What was copied of the agent ${agent} is removed.\n`)
}

const command = readCommand()
if (command === undefined) {
  process.stderr.write(usage)
  process.exit(misused)
}
if (command.kind === 'copy') await copy(command).catch(error => exitBecause('The data was not copied', error))
else await abandon(command).catch(error => exitBecause('The copy was not removed', error))
