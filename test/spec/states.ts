import type { Area } from './rest-row.ts'

interface Transition {
  /** Null: the thing does not exist yet. */
  from: string | null
  trigger: string
  to: string
  /** What else is seen from outside. */
  effect?: string
}

interface StateMachine {
  name: string
  area: Area
  states: readonly string[]
  /** The rows of its table; moves that no table names are free. */
  transitions: readonly Transition[]
}

export const stateMachines = [
  {
    name: 'agent',
    area: 'agents',
    states: ['active', 'paused', 'disabled'],
    transitions: [],
  },
  {
    name: 'source',
    area: 'sources',
    states: ['pending', 'processing', 'crawling', 'ready', 'error', 'updating'],
    transitions: [
      {
        from: null,
        trigger: 'a file is uploaded',
        to: 'processing',
        effect: 'the answer shows the status',
      },
      {
        from: null,
        trigger: 'a crawl is created',
        to: 'crawling',
        effect: 'the answer does not wait for the crawl',
      },
      {
        from: 'crawling',
        trigger: 'all pages are chunked and embedded',
        to: 'ready',
        effect: 'config gains pageCount, lastCrawledAt and pageHashes',
      },
      {
        from: 'ready',
        trigger: 'a crawl source is reindexed',
        to: 'crawling',
        effect: 'every page is visited, only those with a new SHA-256 hash are indexed',
      },
      {
        from: 'crawling',
        trigger: 'a repeated crawl ends',
        to: 'ready',
        effect: 'config counts changedPages and unchangedPages',
      },
    ],
  },
  {
    name: 'conversation lock',
    area: 'chat',
    states: ['unlocked', 'locked'],
    transitions: [
      { from: 'unlocked', trigger: 'a message arrives', to: 'locked' },
      {
        from: 'locked',
        trigger: 'another request arrives',
        to: 'locked',
        effect: '409 with code CONVERSATION_LOCKED',
      },
      { from: 'locked', trigger: 'the stream or the request ends', to: 'unlocked' },
    ],
  },
  {
    name: 'schedule',
    area: 'schedules',
    states: ['active', 'paused', 'completed'],
    transitions: [
      { from: null, trigger: 'created with status active or none', to: 'active' },
      { from: 'active', trigger: 'updated to paused', to: 'paused' },
      { from: 'paused', trigger: 'updated to active', to: 'active' },
      { from: 'active', trigger: 'a schedule of type once has run', to: 'completed' },
    ],
  },
  {
    name: 'workflow',
    area: 'workflows',
    states: ['draft', 'active', 'paused', 'archived'],
    transitions: [],
  },
  {
    name: 'workflow execution',
    area: 'workflows',
    states: ['queued', 'running', 'complete', 'errored', 'terminated'],
    transitions: [],
  },
  {
    name: 'MCP server',
    area: 'mcp',
    states: ['connected', 'disconnected', 'error'],
    transitions: [],
  },
  {
    name: 'browser session',
    area: 'browser',
    states: ['active', 'paused', 'takeover', 'closed', 'error'],
    transitions: [],
  },
] as const satisfies readonly StateMachine[]
