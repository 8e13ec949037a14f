/** Runs the benchmarks that are named, or all of them, one after the other: `npm run bench -- streaming start`. */
import { spawnSync } from 'node:child_process'

/** Milliseconds; each is made to need less than a minute on a quiet machine, but for those named here. */
const timeLimit = 180_000
const longLimit = 1_800_000
const writers = [
  'answers',
  'graphs',
  'large-owner',
  'many-streams',
  'postgres',
  'search-large',
  'search-postgres',
  'uploads',
  'webhooks',
]
const needFixtures = ['retrieval', 'answers']

const benchmarks = [
  'start',
  'point-read',
  'audit',
  'streaming',
  'turns',
  'openai',
  'many-streams',
  'ingestion',
  'uploads',
  'crawl',
  'search',
  'search-large',
  'sql',
  'sandbox',
  'webhooks',
  'executions',
  'graphs',
  'schedules',
  'openapi',
  'browser',
  'browser-live',
  'console',
  'console-chat',
  'large-owner',
  'retrieval',
  'answers',
  'payments',
  'postgres',
  'search-postgres',
]

const named = process.argv.slice(2)
const unknown = named.filter(name => !benchmarks.includes(name))
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${benchmarks.join(', ')}.`)
  process.exit(1)
}
for (const name of named.length > 0 ? named : benchmarks) run(name)

function run(name: string): void {
  if (needFixtures.includes(name) && process.env.REAL_FIXTURES === undefined) {
    console.log(`\n${name} was left out: it needs REAL_FIXTURES, the folder with its collections`)
    return
  }
  const file = new URL(`./${name}.ts`, import.meta.url).pathname
  const timeout = writers.includes(name) ? longLimit : timeLimit
  const { status } = spawnSync(process.execPath, [file], { stdio: 'inherit', timeout })
  if (status === 0) return
  console.error(`The benchmark ${name} failed or took longer than ${timeout / 1000} s.`)
  process.exitCode = 1
}
