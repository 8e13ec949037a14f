import { Type } from 'typebox'
import { invalid } from '#platform/errors.ts'
import { parseTime, readTime } from '#platform/time/written-time.ts'
import { type DataProblem, defineNode, nodeData } from '../engine/node-type.ts'
import { exactlyOne } from './exactly-one.ts'

const maxSeconds = 366 * 86_400

const schema = nodeData({
  seconds: Type.Optional(Type.Number({ minimum: 0, maximum: maxSeconds })),
  until: Type.Optional(Type.String({ maxLength: 100 })),
  approval: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
  /** The time limit of an approval. */
  timeout_seconds: Type.Optional(Type.Number({ minimum: 1, maximum: maxSeconds })),
})

/** Waits for a time, or for a person to approve. */
export const wait = defineNode(schema, {
  handles: ({ approval }) => (approval ? ['approved', 'rejected', 'timeout'] : undefined),
  problem: ({ until = '' }) => (until === '' || until.includes('{{') ? undefined : problemOf(until)),
  missing: data => exactlyOne(data, ['seconds', 'until', 'approval']),
  async run({ data, now, resumed }) {
    const end = resumed === undefined ? endOf(data, now) : now
    if (end > now) return { waitUntil: end, forApproval: data.approval }
    const { approved, by = 'time', data: givenData = null } = resumed ?? {}
    const output = { resumed_at: new Date(now).toISOString(), by, data: givenData }
    if (data.approval === undefined) return { output }
    return { output, handle: approved === undefined ? 'timeout' : approved ? 'approved' : 'rejected' }
  },
})

function problemOf(until: string): DataProblem | undefined {
  const parsed = parseTime(until)
  return 'issue' in parsed ? { field: 'until', issue: parsed.issue } : undefined
}

function endOf({ seconds, until, timeout_seconds = maxSeconds }: WaitData, now: number): number {
  const end = until === undefined ? now + (seconds ?? timeout_seconds) * 1000 : readTime('until', until, {})
  if (end > now + maxSeconds * 1000) throw invalid('until', 'is more than 366 days away')
  return end
}

interface WaitData {
  seconds?: number
  until?: string
  timeout_seconds?: number
}
