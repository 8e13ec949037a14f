import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { isFullEndurance } from './test/support/endurance.ts'
import { folderInMemory } from './test/support/folder-in-memory.ts'
import { Report } from './test/support/report.ts'
import { rotationOf } from './test/support/rotation.ts'

const inMemory = folderInMemory()
// Where `tmpdir()` is, for this process and those that it starts. The data of the full figures would need too much memory.
if (inMemory !== undefined && !isFullEndurance) process.env.TMPDIR ??= inMemory
// What Node has compiled, for the next worker and the programs that tests start; `npm ci` removes it.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/node-compile', import.meta.url))

// The quarter of large tables that this run takes, in all of its processes.
process.env.ROTATION ??= rotationOf(new Date())

const shared = {
  // Against tests that would never end: many times what the longest take, since a busy machine may need ten times as long.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  // What is waited for is told by the test, not by how fast the machine is.
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks' as const,
  // Files of one worker share the loaded service: to load it again takes longer than most files.
  isolate: false,
}

/** Left out by `npm run test:fast`, which takes a minute: browsers, crawled sites, and the slowest files of the others. */
const slowTests = [
  'test/{console,docs,process,security,spec}/**',
  'src/{models,sandbox,storage,infrastructure}/**',
  'src/features/{browser,sources}/**',
  'src/features/knowledge/embedding/**',
  'src/features/{payments,workflows}/**/{buying,generated-graphs,hostile-graphs,keeping,provider,selling,waiting}.test.ts',
  'src/features/agents/{deletion-races,large-owner}.test.ts',
  'src/features/{channels/incoming,channels/outgoing/mail,chat/chat-close,chat/chat-stream,sql/limits}.test.ts',
  'src/features/{access/web-pages,tools/hanging-names,tools/import,workflows/running,workflows/nodes/*}.test.ts',
  'src/features/{mcp,mcp-endpoint}/{calls,hostile-servers,reference-server}.test.ts',
  'src/platform/{http/pipelining,workers/worker-pool}.test.ts',
  'src/documents/parsing/{parse-document,real-fixtures}.test.ts',
  'src/platform/{http/openapi/openapi,jobs/waiting,jobs/poison,normalized-text,time/cron}.test.ts',
]

/** Where queries, locks or errors differ by engine. */
const engineTests = [
  'src/platform/jobs/{poison,runner,transact}.test.ts',
  'src/infrastructure/*.test.ts',
  'src/storage/shared-counts.test.ts',
  'src/storage/files/**/*.test.ts',
  'src/storage/search/{full-text,vectors}.test.ts',
  'src/storage/transfer/pages.test.ts',
  'src/features/sql/*.test.ts',
  'src/features/knowledge/{indexing,search}/*.test.ts',
  'src/features/knowledge/embedding/embedded-anew.test.ts',
]

/** The files of each feature that between them run every statement of its repositories. */
const repositoryTests = [
  'src/features/access/{access,first-sign-in,ids,keys,raised-keys}.test.ts',
  'src/features/audit/*.test.ts',
  'src/features/agents/{agents,deletion-races}.test.ts',
  'src/features/sign-in/*.test.ts',
  'src/features/browser/profiles.test.ts',
  'src/features/calendar/calendar.test.ts',
  'src/features/channels/incoming.test.ts',
  'src/features/chat/{approvals,background-turns,chat-documents,chat-files,chat-role,conversation-lock,conversation-shares,conversations,messages,unsent-files,regenerate,turns}.test.ts',
  'src/features/contacts/contacts.test.ts',
  'src/features/mcp/mcp.test.ts',
  'src/features/openai/openai.test.ts',
  'src/features/overview/attention.test.ts',
  'src/features/payments/{ledger,provider,selling}.test.ts',
  'src/features/schedules/schedules.test.ts',
  'src/features/sources/{contents,sources,crawl/crawl}.test.ts',
  'src/features/sources/{fetching/database-source,jobs/*}.test.ts',
  'src/features/usage/*.test.ts',
  'src/features/tools/{concurrent-changes,tools}.test.ts',
  'src/features/webhooks/{deliveries,webhooks}.test.ts',
  'src/features/workflows/{executions,keeping,waiting-executions,workflows}.test.ts',
]

/** The rules of features, which are one code for both engines: `npm run test:endurance` runs all of them on PostgreSQL, too. */
const ruleTests = [
  'src/features/*/*.test.ts',
  'src/features/knowledge/embedding/*.test.ts',
  'src/features/workflows/nodes/*.test.ts',
  'src/features/sources/{fetching,ingestion,jobs}/*.test.ts',
  'src/features/sources/crawl/crawl{,-*}.test.ts',
]
const onPostgres = [
  ...engineTests,
  'test/security/access-matrix.test.ts',
  ...(isFullEndurance ? ruleTests : repositoryTests),
]

/** Tests of which `npm test` runs a part: see `test/support/rotation.ts`. */
const rotatedTests = ['test/security/{every-route,nobody-waits}.test.ts']

/** Loads of several processes: one file at a time where they are in full, so that each has the machine to itself. */
const loads = { ...shared, testTimeout: 1_800_000, fileParallelism: !isFullEndurance }

export default defineConfig({
  test: {
    reporters: ['default', ...(process.env.GITHUB_ACTIONS ? ['github-actions'] : []), new Report()],
    // Many tests wait for databases, processes and time-outs of their own: two workers would leave a small machine idle.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [
            'test/endurance/**',
            'test/fuzz/**',
            'test/replicas/**',
            'test/migrate-data/**',
            'src/**/postgres/**',
            ...(process.env.FAST === undefined ? [] : slowTests),
          ],
        },
      },
      {
        test: {
          ...shared,
          name: 'postgres',
          include: ['src/**/postgres/**/*.test.ts', ...onPostgres, 'test/migrate-data/**/*.test.ts'],
          globalSetup: 'test/support/postgres/global-setup.ts',
        },
      },
      {
        test: {
          ...loads,
          name: 'replicas',
          include: ['test/replicas/**/*.test.ts', 'test/fuzz/**/*.test.ts'],
          // What pages do is the same on either engine.
          exclude: ['test/fuzz/pages.test.ts'],
          globalSetup: 'test/support/postgres/global-setup.ts',
        },
      },
      {
        test: {
          ...loads,
          name: 'endurance',
          include: [
            'test/endurance/**/*.test.ts',
            'test/fuzz/**/*.test.ts',
            ...(isFullEndurance ? rotatedTests : []),
          ],
        },
      },
    ],
  },
})
